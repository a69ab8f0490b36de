// Numbers that the devices of all ranks find, for decisions of the host.
#pragma once

#include <cstddef>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::aggregation {

/// So many numbers on the device of each local rank, 0 at first, which its kernels write.
template <class V>
class rank_numbers {
public:
    rank_numbers(const communicator& comm, std::size_t count, const char* item)
        : comm_(comm), numbers_(by_rank(comm, [&](int rank) {
              buffer<V> zeros(comm.handle(rank), count, item);
              zeros.zero();
              return zeros;
          })) {}

    /// Those of a local rank, on its device.
    [[nodiscard]] V* of(int rank) const { return numbers_[static_cast<std::size_t>(rank)].data(); }
    /// Returns those of all ranks, [ranks][count]. Collective; waits for the local devices.
    [[nodiscard]] std::vector<std::vector<V>> of_all() const {
        auto all = by_rank(
            comm_, [&](int rank) { return numbers_[static_cast<std::size_t>(rank)].download(); });
        comm_.all_gather_lists(all);
        return all;
    }

private:
    communicator comm_;
    std::vector<buffer<V>> numbers_; ///< [ranks]
};

} // namespace krylith::aggregation
