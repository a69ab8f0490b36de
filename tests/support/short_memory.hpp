// Device memory that runs out at the k-th allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>

namespace krylith::testing {

/// While it lives, allocation number `k` (from 0) of the group, counted over all its devices, is
/// refused; all others succeed.
class short_memory {
public:
    short_memory(device_group group, int k) : group_(std::move(group)) {
        for (int rank = 0; rank < group_.size(); ++rank)
            group_[rank].ledger().set_guard([this, k](const std::string& item, std::size_t bytes,
                                                      std::size_t) {
                if (count_++ == k)
                    throw device_error("refused: " + std::to_string(bytes) + " bytes for " + item);
            });
    }
    short_memory(const short_memory&) = delete;
    short_memory& operator=(const short_memory&) = delete;
    ~short_memory() {
        for (int rank = 0; rank < group_.size(); ++rank) group_[rank].ledger().set_guard({});
    }

    /// The number of allocations asked for so far.
    [[nodiscard]] int count() const { return count_; }

private:
    device_group group_;
    std::atomic<int> count_ = 0; // ranks may be set up side by side
};

/// Returns the live bytes of each device after all work is done.
[[nodiscard]] inline std::vector<std::size_t> live_bytes(const device_group& group) {
    group.synchronize();
    std::vector<std::size_t> live;
    for (int rank = 0; rank < group.size(); ++rank) live.push_back(group[rank].ledger().live());
    return live;
}

} // namespace krylith::testing
