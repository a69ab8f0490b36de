#pragma once

#include <cstdint>
#include <string>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The partition of rows of which each rank has so many. Collective.
template <class Count>
[[nodiscard]] row_partition rows_of_parts(const communicator& comm, const Count& count) {
    auto counts = by_rank(comm, [&](int rank) { return std::int64_t{count(rank)}; });
    comm.all_gather(counts);
    row_partition rows;
    for (const std::int64_t of_rank : counts) rows.begin.push_back(rows.begin.back() + of_rank);
    return rows;
}

/// Refuses a partition of `what`, rows or columns, that is not one of `size` on the ranks of a
/// group, and more of it on a rank than 32 bits number. Messages begin with `who`.
inline void check_partition(const std::string& who, const std::string& what,
                            const row_partition& partition, std::int64_t size,
                            const communicator& comm) {
    if (partition.ranks() != comm.ranks())
        throw usage_error(who + ": the partition of " + what + " has " +
                          std::to_string(partition.ranks()) + " ranks for " +
                          std::to_string(comm.ranks()) + " devices");
    check(partition, size);
    for (int rank = 0; rank < partition.ranks(); ++rank)
        check_index_size(who + ": the number of " + what + " of a rank",
                         partition.owned(rank).size());
}

} // namespace krylith
