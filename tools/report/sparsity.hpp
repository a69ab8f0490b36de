// Where the entries of a matrix lie: counts on a coarse grid, drawn with characters or as a picture
// file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/tools/cli/console.hpp>

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

/// In a frame, a line of text each line. UTF-8: Braille characters of 2 x 4 dots, so that more dots
/// stand where entries are denser (ordered dither of the logarithm of the count), and no cell with
/// an entry stays blank. Else ASCII characters from '.' to '@'. Small matrices are magnified by a
/// whole number. At most `where.columns` wide and `where.lines` high; O(nnz).
template <class T>
[[nodiscard]] std::string sparsity_picture(const csr_view<T>& matrix, const terminal& screen);

/// The most cells of a side of a plot.
inline constexpr int plot_cells = 144;

/// A self-contained SVG: cells coloured by the logarithm of their count, with row and column
/// numbers (from 1). Below 200 kB for grids up to plot_cells x plot_cells.
[[nodiscard]] std::string svg(const density& cells, const std::string& title);

} // namespace krylith::tool
