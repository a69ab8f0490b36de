// The rows of a triangle by place, as host kernels read them.
#pragma once

#include <cstdint>

#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith {

/// Strict entries lie together, diagonals apart. Columns are rows.
template <class T>
struct triangle_rows {
    triangle_source<T> source;             ///< says which row a place is where `order` is null
    const std::int64_t* offsets = nullptr; ///< [rows + 1] by place
    const std::int32_t* columns = nullptr;
    const T* values = nullptr;
    const T* pivots = nullptr;           ///< [rows] by place; null: all are 1
    const std::int32_t* order = nullptr; ///< [rows] the row of a place

    [[nodiscard]] std::int64_t row_of(std::int64_t place) const {
        return order != nullptr ? order[place] : source.row_at(place);
    }
};

/// Solves the rows at places [first, last) one after the other, for `Vectors` right-hand sides.
template <int Vectors, class T>
void solve_places(const triangle_rows<T>& a, const triangular_vectors<T>& v, std::int64_t first,
                  std::int64_t last) {
    for (std::int64_t place = first; place < last; ++place) {
        const std::int64_t row = a.row_of(place);
        T sums[Vectors];
        for (int i = 0; i < Vectors; ++i) sums[i] = v.b[row + i * v.b_stride];
        for (std::int64_t k = a.offsets[place]; k < a.offsets[place + 1]; ++k) {
            const T* const x = v.x + a.columns[k];
            for (int i = 0; i < Vectors; ++i) sums[i] -= a.values[k] * x[i * v.x_stride];
        }
        for (int i = 0; i < Vectors; ++i)
            v.x[row + i * v.x_stride] = a.pivots != nullptr ? sums[i] / a.pivots[place] : sums[i];
    }
}

} // namespace krylith
