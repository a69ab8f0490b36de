// Pictures of where entries lie: counts, characters, SVG.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/tools/support/command_run.hpp>
#include <krylith/tests/tools/support/well_formed.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/report/sparsity.hpp>

namespace krylith::tool {
using krylith::test::contains;
using krylith::test::well_formed;
using krylith::testing::from_dense;

namespace {

density density_of(const csr_matrix<double>& a, int rows, int columns) {
    return measure_density(csr_view<double>(a), rows, columns);
}

std::string picture(const csr_matrix<double>& a, int columns, int lines, bool utf8) {
    return sparsity_picture(csr_view<double>(a), {columns, lines, utf8});
}

csr_matrix<double> of_shape(std::int64_t rows, std::int64_t columns) {
    return {
        rows, columns, std::vector<std::int64_t>(static_cast<std::size_t>(rows) + 1, 0), {}, {}};
}

} // namespace

TEST_CASE("each entry is counted once, in the cell where it lies") {
    for (const auto& entry : krylith::testing::battery()) {
        const csr_matrix<double>& a = entry.matrix;
        for (const int side : {1, 7, 64}) {
            const density d = density_of(a, side, side);
            CAPTURE(entry.name);
            CHECK(std::accumulate(d.counts.begin(), d.counts.end(), std::int64_t{0}) == a.nnz());
            if (a.rows == 0) continue;
            // The same by the definition: column j lies in cell floor(j cells / columns).
            std::vector<std::int64_t> expected(d.counts.size(), 0);
            for (std::int64_t i = 0; i < a.rows; ++i)
                for (auto k = a.row_offsets[static_cast<std::size_t>(i)];
                     k < a.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
                    const std::int64_t j = a.column_indices[static_cast<std::size_t>(k)];
                    ++expected[static_cast<std::size_t>(i * d.rows / a.rows * d.columns +
                                                        j * d.columns / a.columns)];
                }
            CHECK(d.counts == expected);
        }
    }
}

TEST_CASE("a grid keeps the proportions, and has no more cells than rows and columns") {
    const density square = density_of(poisson2d<double>(20), 64, 64);
    CHECK(square.rows == 64);
    CHECK(square.columns == 64);
    const density wide = density_of(of_shape(100, 1000), 64, 64);
    CHECK(wide.rows == 6);
    CHECK(wide.columns == 64);
    const density tiny = density_of(of_shape(3, 2), 64, 64);
    CHECK(tiny.rows == 3);
    CHECK(tiny.columns == 2);
    CHECK(density_of(of_shape(1, 100000), 64, 64).rows == 1);
    CHECK(density_of(of_shape(0, 5), 64, 64).rows == 0);
}

TEST_CASE("pictures show structure: a diagonal, and nothing off it") {
    const csr_matrix<double> diagonal = krylith::testing::diagonal_matrix({1, 1, 1, 1});
    CHECK(picture(diagonal, 10, 6, false) == "+--------+\n"
                                             "|@@      |\n"
                                             "|  @@    |\n"
                                             "|    @@  |\n"
                                             "|      @@|\n"
                                             "+--------+\n");
    CHECK(picture(diagonal, 4, 3, true) == "┌──┐\n"
                                           "│⠑⢄│\n"
                                           "└──┘\n");
    CHECK(picture(diagonal, 6, 4, true) == "┌────┐\n"
                                           "│⠛⣤⠀⠀│\n"
                                           "│⠀⠀⠛⣤│\n"
                                           "└────┘\n");
    CHECK(contains(picture(of_shape(0, 0), 64, 32, true), "no rows"));
}

TEST_CASE("denser cells are drawn darker, and a single entry is never lost") {
    // One full row of a thousand, one entry in the last row.
    csr_matrix<double> a = of_shape(1000, 1000);
    for (std::int32_t j = 0; j < 1000; ++j) a.column_indices.push_back(j);
    a.column_indices.push_back(0);
    a.values.assign(1001, 1);
    for (std::size_t i = 1; i <= 1000; ++i) a.row_offsets[i] = i == 1000 ? 1001 : 1000;
    const std::string ascii = picture(a, 22, 12, false);
    CHECK(contains(ascii, "|@@@@@@@@@@@@@@@@@@@@|")); // 100 entries a cell
    CHECK(contains(ascii, "|::"));                    // one
    const std::string dots = picture(a, 12, 7, true);
    const std::size_t last = dots.rfind("│", dots.rfind("│") - 1) + std::string("│").size();
    CHECK(dots.substr(last, 3) != "⠀");
}

TEST_CASE("pictures fit where they are put") {
    for (const bool utf8 : {false, true})
        for (const int columns : {3, 10, 64, 99})
            for (const auto& shape : {of_shape(50, 50), of_shape(5, 5000), of_shape(5000, 5)}) {
                const std::string text = picture(shape, columns, 20, utf8);
                int lines = 0;
                int width = 0;
                for (const char c : text) {
                    if (c == '\n') {
                        ++lines;
                        CHECK(width <= columns);
                        width = 0;
                    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
                        ++width; // a first byte of a character
                    }
                }
                CHECK(lines <= 20);
                CHECK(lines >= 3);
            }
}

TEST_CASE("the locale says whether UTF-8 can be shown") {
    for (const char* name : {"en_US.UTF-8", "C.utf8", "de_DE.UTF-8@euro"}) CHECK(names_utf8(name));
    for (const char* name : {"C", "POSIX", "de_DE.ISO-8859-1", ""}) CHECK_FALSE(names_utf8(name));
    CHECK_FALSE(names_utf8(nullptr));
}

TEST_CASE("a plot is a small file, even where every cell differs") {
    const auto noise = krylith::testing::random_matrix(3000, 20, 0, 5);
    const std::string text =
        svg(measure_density(csr_view<double>(noise), plot_cells, plot_cells), "a < b & c");
    CHECK(well_formed(text));
    CHECK(text.size() < 200'000);
    CHECK(contains(text, "a &lt; b &amp; c"));
    for (const char* number : {">1<", ">500<", ">3000<"})
        CHECK_MESSAGE(contains(text, number), number);
}

TEST_CASE("plots of odd matrices are pictures too") {
    for (const auto& a : {of_shape(0, 0), of_shape(0, 9), of_shape(9, 9), of_shape(1, 700),
                          from_dense({{1}}), poisson2d<double>(1)}) {
        const std::string text = svg(density_of(a, plot_cells, plot_cells), "odd");
        CHECK(well_formed(text));
        CHECK_FALSE(contains(text, "nan"));
        CHECK_FALSE(contains(text, "inf"));
    }
}

TEST_CASE("a plot paints each run of cells where it lies") {
    const std::string text =
        svg(density_of(from_dense({{1, 1, 0}, {0, 0, 0}, {0, 0, 1}}), 9, 9), "");
    CHECK(contains(text, "\"M0 0h2M2 2h1\""));
}

} // namespace krylith::tool
