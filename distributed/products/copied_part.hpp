// Copies of rows that lie on a device with global columns.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith {

/// The arrays of a part, offsets from 0.
template <class T>
struct copied_part {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns;
    buffer<T> values; ///< empty where they are borrowed
};

/// Checks the arrays of the part of a rank, whose first row is `first_row` of the whole matrix, and
/// copies them, values unless they are borrowed; columns may still be out of range. Waits. Throws
/// usage_error and input_error as distributed_csr says.
template <class T>
[[nodiscard]] copied_part<T> copy_part(const std::shared_ptr<device>& device, int rank,
                                       const csr_part<T>& part, std::int64_t first_row,
                                       part_values values);

/// Whether offsets on a device descend anywhere. Waits for it.
[[nodiscard]] bool offsets_descend(const std::shared_ptr<device>& device,
                                   const buffer<std::int64_t>& offsets);

/// Throws input_error that names the first entry of a part whose column is not of [0, all).
template <class T>
[[noreturn]] void refuse_columns(const std::shared_ptr<device>& device, int rank,
                                 const csr_part<T>& part, const copied_part<T>& copy,
                                 std::int64_t first_row, std::int64_t all);

} // namespace krylith
