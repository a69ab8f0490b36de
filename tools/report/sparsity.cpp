#include <krylith/tools/report/sparsity.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace krylith::tool {

namespace {

using counts = std::vector<std::int64_t>;

void add(counts& to, const counts& from) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

#pragma omp declare reduction(add:counts                                                           \
                              : add(omp_out, omp_in))                                              \
    initializer(omp_priv = counts(omp_orig.size(), 0))

int cells(double fraction, std::int64_t extent, int most) {
    const auto wanted = static_cast<std::int64_t>(std::lround(fraction));
    return static_cast<int>(
        std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>(extent, most)));
}

/// Dots of a character: Braille's grid, or one dot that is twice as high as wide.
struct dot_grid {
    int rows;
    int columns;
};

/// Thresholds of Bayer's 4 x 4 matrix (1973), all below 1: the fullest cells have every dot.
double threshold(int row, int column) {
    static constexpr std::array<int, 16> order = {0, 8,  2, 10, 12, 4, 14, 6,
                                                  3, 11, 1, 9,  15, 7, 13, 5};
    return (order[static_cast<std::size_t>(row % 4 * 4 + column % 4)] + 0.5) / 16;
}

/// A cell is a square of `scale` x `scale` dots.
class dots {
public:
    dots(const density& cells, int scale) : cells_(cells), scale_(scale) {}

    [[nodiscard]] double level(int row, int column) const {
        const int i = row / scale_;
        const int j = column / scale_;
        return i < cells_.rows && j < cells_.columns ? cells_.level(i, j) : 0;
    }
    [[nodiscard]] int rows() const { return cells_.rows * scale_; }
    [[nodiscard]] int columns() const { return cells_.columns * scale_; }

private:
    const density& cells_;
    int scale_;
};

std::string in_utf8(unsigned code) {
    return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
}

std::string braille(const dots& all, int top, int left) {
    // Dots 1 to 8 of the standard, by rows.
    static constexpr std::array<unsigned, 8> bits = {0x01, 0x08, 0x02, 0x10,
                                                     0x04, 0x20, 0x40, 0x80};
    unsigned lit = 0;
    double fullest = 0;
    unsigned there = 0;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) {
            const double level = all.level(top + i, left + j);
            const unsigned bit = bits[static_cast<std::size_t>(2 * i + j)];
            if (level > threshold(top + i, left + j)) lit |= bit;
            if (level <= fullest) continue;
            fullest = level;
            there = bit;
        }
    return in_utf8(0x2800 + (lit != 0 ? lit : there));
}

std::string shade(const dots& all, int top, int left) {
    static constexpr std::string_view shades = ".:-=+*#%@";
    const double level = all.level(top, left);
    if (level == 0) return " ";
    const auto at = static_cast<std::size_t>(level * static_cast<double>(shades.size()));
    return {shades[std::min(at, shades.size() - 1)]};
}

std::string repeated(std::string_view text, int times) {
    std::string result;
    for (int k = 0; k < times; ++k) result += text;
    return result;
}

} // namespace

double density::level(int row, int column) const {
    const std::int64_t count = at(row, column);
    if (count == 0) return 0;
    return std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

template <class T>
density measure_density(const csr_view<T>& a, int most_rows, int most_columns) {
    density d;
    d.matrix_rows = a.rows;
    d.matrix_columns = a.columns;
    if (a.rows == 0 || a.columns == 0) return d;
    const double side = std::max(static_cast<double>(a.rows) / most_rows,
                                 static_cast<double>(a.columns) / most_columns); // of a cell
    d.rows = cells(static_cast<double>(a.rows) / side, a.rows, most_rows);
    d.columns = cells(static_cast<double>(a.columns) / side, a.columns, most_columns);
    // Columns are below 2^31 and cells few, so that this fits.
    const std::int64_t width = d.columns;
    counts all(static_cast<std::size_t>(d.rows) * static_cast<std::size_t>(width), 0);
    std::vector<std::int64_t> first(static_cast<std::size_t>(width) + 1); // column of each cell
    for (std::int64_t c = 0; c <= width; ++c)
        first[static_cast<std::size_t>(c)] = (c * a.columns + width - 1) / width;
    const double per_column = static_cast<double>(width) / static_cast<double>(a.columns);
#pragma omp parallel for schedule(static) reduction(add : all)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t cell_row = row * d.rows / a.rows; // no memory holds 2^54 rows
        std::int64_t* const line = all.data() + cell_row * width;
        const auto end = a.row_offsets[static_cast<std::size_t>(row) + 1];
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)]; k < end; ++k) {
            const std::int64_t column = a.column_indices[static_cast<std::size_t>(k)];
            // The product may be off by one at the border of a cell.
            auto c = static_cast<std::int64_t>(static_cast<double>(column) * per_column);
            c = std::min(c, width - 1);
            if (column < first[static_cast<std::size_t>(c)]) --c;
            if (column >= first[static_cast<std::size_t>(c) + 1]) ++c;
            ++line[c];
        }
    }
    d.counts = std::move(all);
    d.most = *std::max_element(d.counts.begin(), d.counts.end());
    return d;
}

template density measure_density(const csr_view<double>&, int, int);
template density measure_density(const csr_view<float>&, int, int);

template <class T>
std::string sparsity_picture(const csr_view<T>& matrix, const terminal& screen) {
    const dot_grid c = screen.utf8 ? dot_grid{4, 2} : dot_grid{1, 1};
    const int lines = std::max(1, screen.lines - 2) * c.rows; // inside the frame
    const int width = std::max(1, screen.columns - 2) * c.columns;
    const int stretch =
        screen.utf8 || width < 2 ? 1 : 2; // ASCII: two characters side by side are a square
    const density cells = measure_density(matrix, lines, width / stretch);
    if (cells.rows == 0) return "(no rows or no columns)\n";
    const int scale = std::max(1, std::min(lines / cells.rows, width / stretch / cells.columns));
    // Without magnification a cell is a dot; a matrix that is smaller than the picture grows.
    const dots all(cells, scale);
    const int across = (all.columns() * stretch + c.columns - 1) / c.columns;
    const auto edge = [&](std::string_view left, std::string_view line, std::string_view right) {
        return std::string(left) + repeated(line, across) + std::string(right) + "\n";
    };
    const std::string_view side = screen.utf8 ? "│" : "|";
    std::string out = screen.utf8 ? edge("┌", "─", "┐") : edge("+", "-", "+");
    for (int row = 0; row < all.rows(); row += c.rows) {
        out += side;
        for (int column = 0; column < across; ++column)
            out += screen.utf8 ? braille(all, row, column * c.columns)
                               : shade(all, row, column / stretch);
        out.append(side).append("\n");
    }
    return out + (screen.utf8 ? edge("└", "─", "┘") : edge("+", "-", "+"));
}

template std::string sparsity_picture(const csr_view<double>&, const terminal&);
template std::string sparsity_picture(const csr_view<float>&, const terminal&);

} // namespace krylith::tool
