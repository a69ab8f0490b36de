// Kernels that number columns and move rows between the matrices of ranks. They are enqueued on a
// device; those that return something wait for it. Entries are divided among threads whatever the
// lengths of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/item_tasks.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

/// The columns of entries that a rank does not own.
struct outer_columns {
    std::vector<std::int64_t> ghosts; ///< ascending
    buffer<std::int64_t> resident;    ///< the same on the device; empty where they aren't there
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

KRYLITH_HOST_AND_CUDA(
    /// Lists the columns, of [0, all), that are outside of `owned`.
    [[nodiscard]] outer_columns find_outer_columns(const std::shared_ptr<device>& device,
                                                   const std::int32_t* columns, std::int64_t count,
                                                   row_range owned, std::int64_t all);
    /// Returns whether the columns of each row ascend strictly.
    [[nodiscard]] bool columns_ascend(const std::shared_ptr<device>& device, const csr_pattern& a);
    /// Copies the entries k of packed rows: to[k - packed[0]] = from[k + jump].
    template <class V>
    void gather_rows(device& device, const packed_rows& rows, const V* from, V* to);
    /// Copies them the other way: to[k + jump] = from[k].
    template <class V>
    void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to);)

// The choice between them.

[[nodiscard]] inline outer_columns find_outer_columns(const std::shared_ptr<device>& device,
                                                      const std::int32_t* columns,
                                                      std::int64_t count, row_range owned,
                                                      std::int64_t all) {
    if (count == 0) return {};
    return KRYLITH_ON(*device, find_outer_columns(device, columns, count, owned, all));
}

[[nodiscard]] inline bool columns_ascend(const std::shared_ptr<device>& device,
                                         const csr_pattern& a) {
    return a.nonzeros == 0 || a.ascends || KRYLITH_ON(*device, columns_ascend(device, a));
}

template <class V>
void gather_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    if (rows.entries != 0) KRYLITH_ON(device, gather_rows(device, rows, from, to));
}

template <class V>
void scatter_rows(device& device, const packed_rows& rows, const V* from, V* to) {
    if (rows.entries != 0) KRYLITH_ON(device, scatter_rows(device, rows, from, to));
}

} // namespace krylith
