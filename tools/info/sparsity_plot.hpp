// Where the entries of a matrix lie, as a picture file.
#pragma once

#include <string>

#include <krylith/tools/info/density.hpp>

namespace krylith::tool {

/// The most cells of a side of a plot.
inline constexpr int plot_cells = 144;

/// A self-contained SVG: cells coloured by the logarithm of their count, with row and column
/// numbers (from 1). Below 200 kB for grids up to plot_cells x plot_cells.
[[nodiscard]] std::string svg(const density& cells, const std::string& title);

} // namespace krylith::tool
