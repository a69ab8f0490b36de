// Entries assigned to devices in two levels: each NUMA node gets one range, in proportion to its
// devices, and each device of the node a part of it. What a node's memory holds for its devices is
// so contiguous, and a row is shared across nodes only where two ranges meet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/nonzero/nonzero_partition.hpp>

namespace krylith {

/// Part k of the entries is held by the device of rank device[k]. Nodes stand in the order in which
/// they first occur among the ranks, and the devices of a node in that of their ranks: with one
/// node, or nodes whose devices stand together, device[k] is k. Elsewhere a group made of the
/// devices in this order has part k on rank k, so that the rows of the parts are a row_partition of
/// it.
struct numa_partition {
    std::vector<int> device;
    nonzero_partition entries;

    friend bool operator==(const numa_partition&, const numa_partition&) = default;
};

/// Equal entries a device. Since shares are cut in the order of parts, floor(k entries / devices),
/// a node gets entries in proportion to its devices and its parts differ by at most one; so do all.
/// With one node it is equal_entries. O(devices^2). Throws usage_error unless
/// entries >= 0, there is a device, and no node is negative.
[[nodiscard]] numa_partition make_numa_partition(std::int64_t entries,
                                                 std::span<const int> node_of_device);

/// Throws usage_error naming the first violation: device is a permutation; the devices of a node
/// stand together; check() of the entries. O(devices^2).
void check(const numa_partition& partition, std::span<const int> node_of_device,
           std::int64_t entries);

} // namespace krylith
