// The matrix whose triangle is solved with, as kernels read it.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// What the memory of an analysis is called.
inline constexpr const char* analysis_item = "analysis of a triangle";

/// A square matrix in compressed rows. Rows may be in any order of columns and hold a column
/// several times, whose values add up.
template <class T>
struct triangle_source {
    std::int64_t rows = 0;
    const std::int64_t* offsets = nullptr; ///< [rows + 1]
    const std::int32_t* indices = nullptr;
    const T* values = nullptr;
    bool upper = false;
    bool sorted = false; ///< whether columns are known not to descend in any row

    /// Whether x[column] must be known before x[row]: the entry lies strictly in the triangle.
    [[nodiscard]] KRYLITH_HD bool depends(std::int64_t row, std::int64_t column) const {
        return upper ? column > row : column < row;
    }
    /// Whether the entries that follow in a row, from the outer end of the triangle to the
    /// diagonal, do not count.
    [[nodiscard]] KRYLITH_HD bool ends(std::int64_t row, std::int64_t column) const {
        return sorted && (upper ? column < row : column > row);
    }
    /// The place of entry k of a row of entries [begin, end), from its outer end where sorted.
    [[nodiscard]] KRYLITH_HD std::int64_t from_outside(std::int64_t k, std::int64_t begin,
                                                       std::int64_t end) const {
        return sorted && upper ? begin + end - 1 - k : k;
    }
    /// The row that is number `place` in natural order of solving.
    [[nodiscard]] KRYLITH_HD std::int64_t row_at(std::int64_t place) const {
        return upper ? rows - 1 - place : place;
    }
};

} // namespace krylith
