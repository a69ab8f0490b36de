// A block in compressed rows, for kernels that do more than a product with one vector.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// Arrays in memory of the block's device. Columns are local.
template <class T>
struct compressed_rows {
    const std::int32_t* narrow_offsets; ///< [rows + 1], the first is 0; null: they are wide
    const std::int64_t* wide_offsets;   ///< the same, where a block has 2^31 nonzeros and more
    const std::int32_t* columns;
    const T* values;

    /// The place of the first entry of a row; that of row + 1 ends it.
    [[nodiscard]] KRYLITH_HD std::int64_t begin(std::int64_t row) const {
        return narrow_offsets != nullptr ? narrow_offsets[row] : wide_offsets[row];
    }
};

} // namespace krylith
