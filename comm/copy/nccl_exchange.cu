// Blocks that travel between GPUs by NCCL's point-to-point calls.
#include <krylith/config.hpp>

#if KRYLITH_HAVE_NCCL

#include <string>
#include <vector>

#include <nccl.h>

#include <krylith/comm/copy/nccl_exchange.hpp>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/cuda/group_streams.cuh>
#include <krylith/device/libraries/shared_library.hpp>

namespace krylith::cuda {

namespace {

#ifndef KRYLITH_NCCL_ELSEWHERE
#define KRYLITH_NCCL_ELSEWHERE ""
#endif

const shared_library nccl_library = {
    .name = "NCCL",
    .file = KRYLITH_SONAME("libnccl", NCCL_MAJOR),
    .other = KRYLITH_NCCL_ELSEWHERE,
    .needs = "install NCCL (Debian, Ubuntu: package libnccl2), or take another transport: allowed "
             "are peer-store and copy-engine"};

KRYLITH_LOADED(nccl_library, ncclCommInitAll);
KRYLITH_LOADED(nccl_library, ncclCommDestroy);
KRYLITH_LOADED(nccl_library, ncclGroupStart);
KRYLITH_LOADED(nccl_library, ncclGroupEnd);
KRYLITH_LOADED(nccl_library, ncclSend);
KRYLITH_LOADED(nccl_library, ncclRecv);
KRYLITH_LOADED(nccl_library, ncclGetErrorString);

void check_nccl(ncclResult_t status, const char* what) {
    if (status != ncclSuccess)
        throw device_error(std::string("NCCL: ") + what + ": " + ncclGetErrorString(status));
}

class nccl_exchange final : public block_exchange {
public:
    explicit nccl_exchange(const communicator& comm) : comm_(comm) {
        std::vector<int> ordinals;
        for (int rank = 0; rank < comm.ranks(); ++rank) ordinals.push_back(comm[rank].ordinal());
        communicators_.resize(ordinals.size());
        check_nccl(ncclCommInitAll(communicators_.data(), comm.ranks(), ordinals.data()),
                   "making communicators");
        try {
            for (const int ordinal : ordinals) {
                const current_device current(ordinal);
                cudaStream_t stream = nullptr;
                streams_.reserve(ordinals.size());
                KRYLITH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
                streams_.push_back(stream);
                all_streams()->add(ordinal, stream);
            }
        } catch (...) {
            release();
            throw;
        }
    }
    nccl_exchange(const nccl_exchange&) = delete;
    nccl_exchange& operator=(const nccl_exchange&) = delete;
    ~nccl_exchange() override { release(); }

    void send(std::span<const block_message> messages) override {
        if (messages.empty()) return;
        for (int rank = 0; rank < comm_.ranks(); ++rank) {
            const auto computed = comm_[rank].record();
            const current_device current(comm_[rank].ordinal());
            KRYLITH_CUDA_CHECK(cudaStreamWaitEvent(streams_[place(rank)],
                                                   static_cast<cuda_event&>(*computed).get(), 0));
        }
        check_nccl(ncclGroupStart(), "a group's start");
        // A group that was started must be ended, also where a call inside fails.
        ncclResult_t status = ncclSuccess;
        for (const block_message& m : messages) {
            if (m.bytes == 0 || status != ncclSuccess) continue;
            status = ncclSend(m.source, m.bytes, ncclInt8, m.to, communicators_[place(m.from)],
                              streams_[place(m.from)]);
            if (status == ncclSuccess)
                status = ncclRecv(m.target, m.bytes, ncclInt8, m.from, communicators_[place(m.to)],
                                  streams_[place(m.to)]);
        }
        const ncclResult_t ended = ncclGroupEnd();
        check_nccl(status, "sending results");
        check_nccl(ended, "sending results");
    }

    void finish() override {
        for (int rank = 0; rank < comm_.ranks(); ++rank) {
            cuda_event arrived(comm_[rank].ordinal(), streams_[place(rank)]);
            comm_[rank].wait(arrived);
        }
    }

private:
    static std::size_t place(int rank) { return static_cast<std::size_t>(rank); }

    [[nodiscard]] const std::shared_ptr<group_streams>& all_streams() const {
        return static_cast<cuda_device&>(comm_[0]).streams();
    }

    void release() noexcept {
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            const current_device current(comm_[static_cast<int>(i)].ordinal());
            cudaStreamSynchronize(streams_[i]);
            all_streams()->remove(streams_[i]);
            cudaStreamDestroy(streams_[i]);
        }
        for (ncclComm_t communicator : communicators_) ncclCommDestroy(communicator);
    }

    communicator comm_;
    std::vector<ncclComm_t> communicators_; // [ranks]
    std::vector<cudaStream_t> streams_;     // [ranks]
};

} // namespace

void require_nccl() {
    nccl_library.require();
}

std::unique_ptr<block_exchange> make_nccl_exchange(const communicator& comm) {
    return std::make_unique<nccl_exchange>(comm);
}

} // namespace krylith::cuda

#endif
