// What the devices of a group measure: copies, copies to peers, all-reduce.
#pragma once

#include <cstddef>

#include <krylith/device/device_group.hpp>

namespace krylith::tool {

/// Bytes read and written a second by copies of `bytes` within one device.
[[nodiscard]] double copy_rate(const device_group& group, int rank, std::size_t bytes);

/// Bytes a second of copies of `bytes` from one device to another.
[[nodiscard]] double peer_rate(const device_group& group, int from, int to, std::size_t bytes);

/// Seconds of one trip of a device-side loop whose body is one kernel that reduces a dot product of
/// 1024 entries a device over the group, and waits for the sum of the turn before: the latency of
/// an all-reduce and of a dependent kernel.
[[nodiscard]] double all_reduce_seconds(const device_group& group);

} // namespace krylith::tool
