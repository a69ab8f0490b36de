#include <krylith/device/transport/block_exchange.hpp>

#include <string>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/queues/side_queue.hpp>

namespace krylith {

namespace {

class copy_exchange final : public block_exchange {
public:
    explicit copy_exchange(const device_group& group) : group_(group) {
        for (int from = 0; from < group.size(); ++from)
            for (int to = 0; to < group.size(); ++to)
                queues_.push_back(from != to ? group[from].make_side_queue() : nullptr);
        used_.resize(queues_.size());
    }

    void send(std::span<const block_message> messages) override {
        std::vector<std::shared_ptr<event>> computed(static_cast<std::size_t>(group_.size()));
        for (const block_message& m : messages) {
            if (m.bytes == 0) continue;
            auto& done = computed[static_cast<std::size_t>(m.from)];
            if (!done) done = group_[m.from].record();
            const std::size_t pair = place(m.from, m.to);
            queues_[pair]->wait(*done);
            queues_[pair]->copy(m.source, group_[m.to], m.target, m.bytes);
            used_[pair] = true;
        }
    }

    void finish() override {
        for (int from = 0; from < group_.size(); ++from)
            for (int to = 0; to < group_.size(); ++to) {
                const std::size_t pair = place(from, to);
                if (!used_[pair]) continue;
                used_[pair] = false;
                const auto arrived = queues_[pair]->record();
                group_[from].wait(*arrived);
                group_[to].wait(*arrived);
            }
    }

private:
    [[nodiscard]] std::size_t place(int from, int to) const {
        return static_cast<std::size_t>(from * group_.size() + to);
    }

    device_group group_;
    std::vector<std::unique_ptr<side_queue>> queues_; // [from * size + to]
    std::vector<bool> used_;                          // since the last finish()
};

} // namespace

std::unique_ptr<block_exchange> make_copy_exchange(const device_group& group) {
    return std::make_unique<copy_exchange>(group);
}

bool nccl_built_in() noexcept {
    return KRYLITH_HAVE_NCCL != 0;
}

void require_nccl(const device_group& group) {
    if (!nccl_built_in())
        throw usage_error("transport nccl: this krylith was built without NCCL (KRYLITH_NCCL): "
                          "allowed are peer-store and copy-engine");
    if (group.kind() != backend::cuda)
        throw usage_error("transport nccl needs CUDA devices, and these are host devices: allowed "
                          "are peer-store and copy-engine");
    for (int i = 0; i < group.size(); ++i)
        for (int j = 0; j < i; ++j)
            if (group[i].ordinal() == group[j].ordinal())
                throw usage_error("transport nccl needs distinct GPUs, but ranks " +
                                  std::to_string(j) + " and " + std::to_string(i) +
                                  " are both cuda:" + std::to_string(group[i].ordinal()) +
                                  ": allowed are peer-store and copy-engine");
#if KRYLITH_HAVE_NCCL
    cuda::require_nccl();
#endif
}

std::unique_ptr<block_exchange> make_nccl_exchange(const device_group& group) {
    require_nccl(group);
#if KRYLITH_HAVE_NCCL
    return cuda::make_nccl_exchange(group);
#else
    return nullptr; // not reached
#endif
}

} // namespace krylith
