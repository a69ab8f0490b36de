// Local numbers for the columns of entries that lie on a device with global ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// Finds the ghosts among global columns of [0, all), and replaces the columns by local numbers.
/// Nothing, and no change, where a column is out of range. One look at the columns where the rank
/// owns all. Otherwise a bitmap of `all` columns is made; ghosts travel to the host and back. Waits
/// for the device.
[[nodiscard]] std::optional<local_columns> number_columns(const std::shared_ptr<device>& device,
                                                          row_range owned, std::int64_t all,
                                                          const buffer<std::int32_t>& columns);

/// The same for a matrix with any number of columns: `given` has local.size() global columns, on
/// the device or in memory of the host, and `local` gets their numbers. They are read twice, by the
/// device in pieces of 128 MiB, and the host sorts the references to ghosts: memory and work don't
/// depend on `all`. V is int32_t or int64_t.
template <class V>
[[nodiscard]] std::optional<local_columns>
number_columns(const std::shared_ptr<device>& device, row_range owned, std::int64_t all,
               const V* given, const buffer<std::int32_t>& local);

} // namespace krylith
