#include <krylith/tools/report/sparsity.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <krylith/tools/cli/svg_drawing.hpp>

namespace krylith::tool {

namespace {

// The canvas in pixels, and the square that the matrix is fitted into.
constexpr double sparsity_width = 640;
constexpr double sparsity_height = 560;
constexpr double picture_left = 90;
constexpr double picture_top = 72;
constexpr double picture_side = 432;

/// From few entries to many.
constexpr std::array<const char*, 8> cell_colours = {"#cfe3f3", "#a9cdea", "#7fb4de", "#5498cd",
                                                     "#2f7dbb", "#1c609b", "#124475", "#0a2a4d"};

std::size_t colour_of(double level) {
    return std::min(cell_colours.size() - 1,
                    static_cast<std::size_t>(level * static_cast<double>(cell_colours.size())));
}

/// A stroke of one unit for each run of cells of a colour: a few bytes a run.
std::string strokes(const density& cells) {
    std::array<std::string, cell_colours.size()> paths;
    for (int row = 0; row < cells.rows; ++row)
        for (int column = 0; column < cells.columns;) {
            if (cells.at(row, column) == 0) {
                ++column;
                continue;
            }
            const std::size_t colour = colour_of(cells.level(row, column));
            int end = column + 1;
            while (end < cells.columns && cells.at(row, end) != 0 &&
                   colour_of(cells.level(row, end)) == colour)
                ++end;
            paths[colour] += fmt::format("M{} {}h{}", column, row, end - column);
            column = end;
        }
    std::string out;
    for (std::size_t k = 0; k < cell_colours.size(); ++k)
        if (!paths[k].empty())
            out += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", cell_colours[k], paths[k]);
    return out;
}

/// Numbers along an axis of `extent` rows or columns: 1 and round ones, as pixels from its start.
template <class Draw>
void mark(std::int64_t extent, double pixels, const Draw& draw) {
    const std::int64_t step = round_step(extent);
    const double each = pixels / static_cast<double>(extent);
    draw(each / 2, 1);
    for (std::int64_t k = step; k <= extent; k += step)
        if (k > 1) draw((static_cast<double>(k) - 0.5) * each, k);
}

std::string draw_axes(const density& cells, double wide, double high) {
    std::string out;
    mark(cells.matrix_columns, wide, [&](double at, std::int64_t number) {
        out += svg_line(picture_left + at, picture_top - 5, picture_left + at, picture_top, "tick");
        out += svg_text(picture_left + at, picture_top - 10, "text-anchor=\"middle\"",
                        fmt::format("{}", number));
    });
    mark(cells.matrix_rows, high, [&](double at, std::int64_t number) {
        out += svg_line(picture_left - 5, picture_top + at, picture_left, picture_top + at, "tick");
        out += svg_text(picture_left - 9, picture_top + at + 4, "text-anchor=\"end\"",
                        fmt::format("{}", number));
    });
    return out + svg_frame(picture_left, picture_top, wide, high);
}

/// The counts from which on each colour is used; colours that no count has are left out.
std::string legend(const density& cells) {
    constexpr double x = picture_left + picture_side + 20;
    const double fullest = std::log1p(static_cast<double>(cells.most));
    std::string out = svg_text(x, picture_top + 8, "", "entries, from");
    double y = picture_top + 22;
    for (std::size_t k = 0; k < cell_colours.size(); ++k) {
        const double edge = static_cast<double>(k) / static_cast<double>(cell_colours.size());
        const double first = std::ceil(std::expm1(edge * fullest) - 1e-9);
        const auto least = std::max<std::int64_t>(1, static_cast<std::int64_t>(first));
        const double level = std::log1p(static_cast<double>(least)) / fullest;
        if (colour_of(level) != k) continue;
        out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{}\"/>\n", x,
                           y, cell_colours[k]);
        out += svg_text(x + 20, y + 12, "", fmt::format("{}", least));
        y += 20;
    }
    return out;
}

} // namespace

std::string svg(const density& cells, const std::string& title) {
    std::string out = svg_start(sparsity_width, sparsity_height, ".tick { stroke: #888 }\n");
    out += svg_text(picture_left, 30, "class=\"title\"", title);
    if (cells.rows == 0)
        return out + svg_text(picture_left, picture_top + 20, "", "no rows or no columns") +
               "</svg>\n";
    const double unit = picture_side / std::max(cells.rows, cells.columns);
    out += fmt::format("<g transform=\"translate({} {}) scale({:.4f}) translate(0 .5)\" "
                       "shape-rendering=\"crispEdges\">\n",
                       picture_left, picture_top, unit);
    out += strokes(cells) + "</g>\n";
    out += draw_axes(cells, unit * cells.columns, unit * cells.rows);
    if (cells.most > 0) out += legend(cells);
    return out + "</svg>\n";
}

} // namespace krylith::tool
