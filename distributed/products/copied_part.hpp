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
    buffer<std::int32_t> columns; ///< local
    buffer<T> values;             ///< empty where they are borrowed
    local_columns numbers;
};

/// Where a part is in the whole matrix.
struct place_of_part {
    int rank;
    std::int64_t first_row;
    row_range owned;      ///< columns of the rank
    std::int64_t columns; ///< of the whole matrix
};

/// Checks the arrays of a part and copies them, values unless they are borrowed. Waits. Throws
/// usage_error and input_error as distributed_csr says.
template <class T>
[[nodiscard]] copied_part<T> copy_part(const std::shared_ptr<device>& device,
                                       const place_of_part& place, const csr_part<T>& part,
                                       part_values values);

/// Whether offsets on a device descend anywhere. Waits for it.
[[nodiscard]] bool offsets_descend(const std::shared_ptr<device>& device,
                                   const buffer<std::int64_t>& offsets);

} // namespace krylith
