// The rows of a block in compressed rows, entry by entry: for plain passes that are not worth a
// kernel for each format (sparse/residual/row_kernels.cuh). Other formats have the like.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

template <class T, class Offset, class Column = std::int32_t>
struct csr_rows {
    const Offset* offsets; ///< [places + 1], the first is 0
    const Column* columns;
    const T* values;
    std::int64_t places;

    /// The row at a place; -1: none.
    [[nodiscard]] KRYLITH_HD std::int64_t row(std::int64_t place) const { return place; }

    /// Calls entry(column, value) for the entries of the row at a place, in their order. A column
    /// of -1 says that the place is empty.
    template <class Entry>
    KRYLITH_HD void visit(std::int64_t place, const Entry& entry) const {
        for (Offset k = offsets[place]; k < offsets[place + 1]; ++k) entry(columns[k], values[k]);
    }
};

} // namespace krylith
