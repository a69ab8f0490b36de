// Kernels that number columns and move rows between the matrices of ranks. They are enqueued on a
// device; those that return something wait for it. Entries are divided among threads whatever the
// lengths of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/device.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/item_tasks.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The columns of entries that a rank does not own.
struct outer_columns {
    std::vector<std::int32_t> ghosts; ///< ascending
    buffer<std::int32_t> resident;    ///< the same on the device; empty where they aren't there
    bool valid = true;                ///< whether all columns are of the matrix
};

/// Some rows of a matrix, as they lie one after the other in another array: `packed` has their
/// offsets there, [rows + 1], and entry k of it is entry k + jump[row] of the matrix.
struct packed_rows {
    std::int64_t rows = 0;
    std::int64_t entries = 0; ///< packed[rows] - packed[0]
    const std::int64_t* packed = nullptr;
    const std::int64_t* jump = nullptr; ///< [rows]
};

/// A pattern on a device.
struct row_pattern {
    std::int64_t rows;
    std::int64_t nonzeros;
    const std::int64_t* offsets;
    const std::int32_t* columns;
};

namespace host {

/// Calls task(i) for 0 <= i < count.
template <class Task>
void run_items(device& device, const Task& task, std::int64_t count);
/// Lists the columns, of [0, all), that are outside of `owned`.
[[nodiscard]] outer_columns find_outer_columns(const std::shared_ptr<device>& device,
                                               const std::int32_t* columns, std::int64_t count,
                                               row_range owned, std::int64_t all);
/// Returns whether the columns of each row ascend strictly.
[[nodiscard]] bool columns_ascend(const std::shared_ptr<device>& device, const row_pattern& a);
/// Replaces lengths[0 .. count) by their running sums from 0, and lengths[count] by the last.
void sum_lengths(const std::shared_ptr<device>& device, std::int64_t* lengths, std::int64_t count);
/// Copies the entries k of packed rows: to[k - packed[0]] = from[k + jump].
template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to);
/// Copies them the other way: to[k + jump] = from[k].
template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to);

} // namespace host

namespace cuda {

template <class Task>
void run_items(device& device, const Task& task, std::int64_t count);
[[nodiscard]] outer_columns find_outer_columns(const std::shared_ptr<device>& device,
                                               const std::int32_t* columns, std::int64_t count,
                                               row_range owned, std::int64_t all);
[[nodiscard]] bool columns_ascend(const std::shared_ptr<device>& device, const row_pattern& a);
void sum_lengths(const std::shared_ptr<device>& device, std::int64_t* lengths, std::int64_t count);
template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to);
template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to);

} // namespace cuda

// The choice between them.

template <class Task>
void run_items(device& device, const Task& task, std::int64_t count) {
    if (count == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::run_items(device, task, count);
#endif
    host::run_items(device, task, count);
}

[[nodiscard]] inline outer_columns find_outer_columns(const std::shared_ptr<device>& device,
                                                      const std::int32_t* columns,
                                                      std::int64_t count, row_range owned,
                                                      std::int64_t all) {
    if (count == 0) return {};
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda)
        return cuda::find_outer_columns(device, columns, count, owned, all);
#endif
    return host::find_outer_columns(device, columns, count, owned, all);
}

[[nodiscard]] inline bool columns_ascend(const std::shared_ptr<device>& device,
                                         const row_pattern& a) {
    if (a.nonzeros == 0) return true;
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) return cuda::columns_ascend(device, a);
#endif
    return host::columns_ascend(device, a);
}

inline void sum_lengths(const std::shared_ptr<device>& device, std::int64_t* lengths,
                        std::int64_t count) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) return cuda::sum_lengths(device, lengths, count);
#endif
    host::sum_lengths(device, lengths, count);
}

template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    if (rows.entries == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::gather_rows(device, rows, from, to);
#endif
    host::gather_rows(device, rows, from, to);
}

template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    if (rows.entries == 0) return;
#if KRYLITH_HAVE_CUDA
    if (device.kind() == backend::cuda) return cuda::scatter_rows(device, rows, from, to);
#endif
    host::scatter_rows(device, rows, from, to);
}

} // namespace krylith
