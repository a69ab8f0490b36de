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

    /// The number of entries at a place, empty ones included.
    [[nodiscard]] KRYLITH_HD std::int64_t length(std::int64_t place) const {
        return offsets[place + 1] - offsets[place];
    }

    /// Calls entry(column, value) for every `lanes`-th entry at a place from number `lane` on, in
    /// their order. A column of -1 says that the entry is empty.
    template <class Entry>
    KRYLITH_HD void visit(std::int64_t place, int lane, int lanes, const Entry& entry) const {
        const std::int64_t end = offsets[place + 1]; // k may go beyond what an Offset holds
        for (std::int64_t k = std::int64_t{offsets[place]} + lane; k < end; k += lanes)
            entry(columns[k], values[k]);
    }
};

} // namespace krylith
