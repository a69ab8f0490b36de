// How the entries of a matrix are spread: counts on a coarse grid, which pictures are drawn from.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::tool {

struct density {
    std::int64_t matrix_rows = 0;
    std::int64_t matrix_columns = 0;
    int rows = 0;
    int columns = 0;
    std::vector<std::int64_t> counts; ///< by rows; cell (i, j) has counts[i * columns + j]
    std::int64_t most = 0;

    [[nodiscard]] std::int64_t at(int row, int column) const {
        return counts[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                      static_cast<std::size_t>(column)];
    }
    /// 0 for an empty cell, 1 for the fullest, in between by the logarithm of the count.
    [[nodiscard]] double level(int row, int column) const;
};

/// A grid that keeps the proportions of the matrix: at most `most_rows` x `most_columns` cells, at
/// least 1 x 1, and no more than the matrix has rows and columns. Without rows or columns: no
/// cells. O(nnz); memory: the grid for each thread.
template <class T>
[[nodiscard]] density measure_density(const csr_view<T>& matrix, int most_rows, int most_columns);

} // namespace krylith::tool
