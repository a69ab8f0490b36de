#pragma once

#include <cstdint>
#include <string>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Refuses a partition of `what`, rows or columns, that is not one of `size` on the ranks of a
/// group, and sizes that local numbers can't count. Messages begin with `who`.
inline void check_partition(const std::string& who, const std::string& what,
                            const row_partition& partition, std::int64_t size,
                            const device_group& group) {
    if (partition.ranks() != group.size())
        throw usage_error(who + ": the partition of " + what + " has " +
                          std::to_string(partition.ranks()) + " ranks for " +
                          std::to_string(group.size()) + " devices");
    check(partition, size);
    check_index_size(who + ": the number of " + what, size);
}

} // namespace krylith
