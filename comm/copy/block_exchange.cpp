#include <krylith/comm/copy/block_exchange.hpp>

#include <string>
#include <vector>

#include <krylith/comm/copy/nccl_exchange.hpp>
#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/queues/side_queue.hpp>

namespace krylith {

namespace {

class copy_exchange final : public block_exchange {
public:
    explicit copy_exchange(const communicator& comm) : comm_(comm) {
        for (int from = 0; from < comm.ranks(); ++from)
            for (int to = 0; to < comm.ranks(); ++to)
                queues_.push_back(from != to ? comm[from].make_side_queue() : nullptr);
        used_.resize(queues_.size());
    }

    void send(std::span<const block_message> messages) override {
        std::vector<std::shared_ptr<event>> computed(static_cast<std::size_t>(comm_.ranks()));
        for (const block_message& m : messages) {
            if (m.bytes == 0) continue;
            auto& done = computed[static_cast<std::size_t>(m.from)];
            if (!done) done = comm_[m.from].record();
            const std::size_t pair = place(m.from, m.to);
            queues_[pair]->wait(*done);
            queues_[pair]->copy(m.source, comm_[m.to], m.target, m.bytes);
            used_[pair] = true;
        }
    }

    void finish() override {
        for (int from = 0; from < comm_.ranks(); ++from)
            for (int to = 0; to < comm_.ranks(); ++to) {
                const std::size_t pair = place(from, to);
                if (!used_[pair]) continue;
                used_[pair] = false;
                const auto arrived = queues_[pair]->record();
                comm_[from].wait(*arrived);
                comm_[to].wait(*arrived);
            }
    }

private:
    [[nodiscard]] std::size_t place(int from, int to) const {
        return static_cast<std::size_t>(from * comm_.ranks() + to);
    }

    communicator comm_;
    std::vector<std::unique_ptr<side_queue>> queues_; // [from * size + to]
    std::vector<bool> used_;                          // since the last finish()
};

} // namespace

std::unique_ptr<block_exchange> make_copy_exchange(const communicator& comm) {
    return std::make_unique<copy_exchange>(comm);
}

bool nccl_built_in() noexcept {
    return KRYLITH_HAVE_NCCL != 0;
}

void require_nccl(const communicator& comm) {
    if (!nccl_built_in())
        throw usage_error("transport nccl: this krylith was built without NCCL (KRYLITH_NCCL): "
                          "allowed are peer-store and copy-engine");
    if (comm.kind() != backend::cuda)
        throw usage_error("transport nccl needs CUDA devices, and these are host devices: allowed "
                          "are peer-store and copy-engine");
    for (int i = 0; i < comm.ranks(); ++i)
        for (int j = 0; j < i; ++j)
            if (comm[i].ordinal() == comm[j].ordinal())
                throw usage_error("transport nccl needs distinct GPUs, but ranks " +
                                  std::to_string(j) + " and " + std::to_string(i) +
                                  " are both cuda:" + std::to_string(comm[i].ordinal()) +
                                  ": allowed are peer-store and copy-engine");
#if KRYLITH_HAVE_NCCL
    cuda::require_nccl();
#endif
}

std::unique_ptr<block_exchange> make_nccl_exchange(const communicator& comm) {
    require_nccl(comm);
#if KRYLITH_HAVE_NCCL
    return cuda::make_nccl_exchange(comm);
#else
    return nullptr; // not reached
#endif
}

} // namespace krylith
