// A matrix of long rows with many different values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <krylith/matrix/gallery.hpp>

namespace krylith::testing {

/// The 27-point matrix of n^3 points, with couplings of 0.5 to 1.5 by a hash of their two points,
/// and sums of rows as before: symmetric, and positive definite.
inline csr_matrix<double> uneven_27point(int n) {
    auto matrix = make_gallery<double>("poisson3d_27point:" + std::to_string(n));
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        double change = 0;
        std::size_t own = 0;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k) {
            const std::int64_t column = matrix.column_indices[k];
            if (column == row) {
                own = k;
                continue;
            }
            const auto pair =
                static_cast<double>(std::min(row, column) * matrix.rows + std::max(row, column));
            const double factor = 0.5 + std::fmod(pair * 0.6180339887498949, 1.0);
            change += matrix.values[k] * (1 - factor);
            matrix.values[k] *= factor;
        }
        matrix.values[own] += change;
    }
    return matrix;
}

} // namespace krylith::testing
