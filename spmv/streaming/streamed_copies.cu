#include <krylith/spmv/streaming/streamed_copies.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <omp.h>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/group_streams.cuh>
#include <krylith/device/host/host_team.hpp>
#include <krylith/device/numa.hpp>

namespace krylith::cuda {

namespace {

constexpr std::size_t slot_bytes = std::size_t{4} << 20;

class stream_copies final : public streamed_copies {
public:
    explicit stream_copies(const streamed_place& place)
        : place_(place), device_(place.group.handle(place.rank)) {
        // A thread's copy takes a small part of what a link or the memory can move.
        threads_ = std::clamp(omp_get_num_procs() / place.group.size(), 1, 6);
        const current_device current(device_->ordinal());
        KRYLITH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        all_streams().add(device_->ordinal(), stream_); // memory that it writes is not free before
    }
    stream_copies(const stream_copies&) = delete;
    stream_copies& operator=(const stream_copies&) = delete;
    ~stream_copies() override {
        const current_device current(device_->ordinal());
        cudaStreamSynchronize(stream_);
        all_streams().remove(stream_);
        cudaStreamDestroy(stream_);
    }

    void wait(event& happened) override {
        const current_device current(device_->ordinal());
        KRYLITH_CUDA_CHECK(
            cudaStreamWaitEvent(stream_, static_cast<cuda_event&>(happened).get(), 0));
    }

    [[nodiscard]] std::shared_ptr<event> record() override {
        return std::make_shared<cuda_event>(device_->ordinal(), stream_);
    }

    void send(void* to, const void* from, std::size_t bytes) override {
        if (bytes == 0) return;
        const current_device current(device_->ordinal());
        if (pinned(from, bytes)) {
            KRYLITH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
            return;
        }
        for (std::size_t done = 0; done < bytes; done += slot_bytes) {
            slot& s = slots_[next_slot_++ % slots_.size()];
            if (s.memory.size() == 0)
                s.memory = node_memory(place_.topology, node(), slot_bytes, device_);
            if (s.sent) s.sent->wait();
            const std::size_t count = std::min(slot_bytes, bytes - done);
            copy(s.memory.data(), static_cast<const std::byte*>(from) + done, count);
            KRYLITH_CUDA_CHECK(cudaMemcpyAsync(static_cast<std::byte*>(to) + done, s.memory.data(),
                                               count, cudaMemcpyHostToDevice, stream_));
            s.sent = record();
        }
    }

    void reserve_fetched(const void* to, std::size_t bytes) override {
        fetch_directly_ = bytes == 0 || pinned(to, bytes);
        used_ = 0;
        fetched_.clear();
        if (!fetch_directly_ && home_.size() < bytes) {
            home_ = {};
            home_ = node_memory(place_.topology, node(), bytes, device_);
        }
    }

    void fetch(void* to, const void* from, std::size_t bytes) override {
        if (bytes == 0) return;
        const current_device current(device_->ordinal());
        void* target = to;
        if (!fetch_directly_) {
            target = home_.data() + used_;
            used_ += bytes;
            fetched_.push_back({to, target, bytes});
        }
        KRYLITH_CUDA_CHECK(cudaMemcpyAsync(target, from, bytes, cudaMemcpyDeviceToHost, stream_));
    }

    void collect() override {
        const current_device current(device_->ordinal());
        KRYLITH_CUDA_CHECK(cudaStreamSynchronize(stream_));
        for (const range& p : fetched_) copy(p.to, p.from, p.bytes);
        fetched_.clear();
    }

    void settle() noexcept override {
        const current_device current(device_->ordinal());
        cudaStreamSynchronize(stream_);
        fetched_.clear();
    }

private:
    struct slot {
        node_memory memory;
        std::shared_ptr<event> sent; ///< the last copy out of it
    };
    struct range {
        void* to;
        const void* from;
        std::size_t bytes;
    };

    [[nodiscard]] group_streams& all_streams() const {
        return *static_cast<cuda_device&>(*device_).streams();
    }

    [[nodiscard]] int node() const {
        return place_.topology.node_of_device[static_cast<std::size_t>(place_.rank)];
    }

    [[nodiscard]] bool pinned(const void* from, std::size_t bytes) const {
        return !place_.staged && device_->lies_elsewhere(from).empty() &&
               device_->lies_elsewhere(static_cast<const std::byte*>(from) + bytes - 1).empty();
    }

    void copy(void* to, const void* from, std::size_t bytes) const {
        constexpr std::size_t worth_a_thread = std::size_t{256} << 10;
        const int team = bytes < 2 * worth_a_thread ? 1 : threads_;
        in_team(team, [&](int thread, int team) {
            const std::size_t part = bytes / static_cast<std::size_t>(team);
            const std::size_t begin = part * static_cast<std::size_t>(thread);
            std::memcpy(static_cast<std::byte*>(to) + begin,
                        static_cast<const std::byte*>(from) + begin,
                        thread + 1 == team ? bytes - begin : part);
        });
    }

    streamed_place place_;
    std::shared_ptr<device> device_;
    int threads_ = 1;
    cudaStream_t stream_ = nullptr;
    std::array<slot, 3> slots_;
    std::size_t next_slot_ = 0;
    node_memory home_;
    std::size_t used_ = 0;
    bool fetch_directly_ = false;
    std::vector<range> fetched_;
};

} // namespace

std::unique_ptr<streamed_copies> make_streamed_copies(const streamed_place& place) {
    return std::make_unique<stream_copies>(place);
}

} // namespace krylith::cuda
