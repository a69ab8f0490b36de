// The columns of SELL slices: decoding gives every entry of a row, in the order of the row, from as
// few bytes as promised.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/sell/sell_columns.hpp>

#include <krylith/tests/support/patterns.hpp>

namespace krylith {

using testing::doubled;
using testing::pattern;
using testing::random_pattern;
using testing::shuffled;
using testing::stencil;

namespace {

struct coded {
    sell_layout layout;
    sell_columns columns;
    std::array<int, 4> slices{}; ///< of each code, those without entries left out
};

/// The column that lane `lane` holds at slice-column k, by the description in sell_view.hpp; -1:
/// none.
std::int64_t decode(const sell_columns& c, const slice_head& head, std::int64_t row, int lane,
                    std::int32_t k) {
    const std::size_t begin = std::size_t{head.columns} * 64;
    const auto at = static_cast<std::size_t>(k) * 32 + static_cast<std::size_t>(lane);
    if (head.code() == column_code::wide) {
        std::int32_t column = 0;
        std::memcpy(&column, &c.stored.at(begin + at * 4 + 3) - 3, 4);
        return column;
    }
    const std::int32_t group = head.code() == column_code::triples ? 3 : 1;
    const slice_step step = c.steps.at(head.first + static_cast<std::size_t>(k / group));
    if ((step.lanes >> lane & 1) == 0) return -1;
    if (head.code() == column_code::diagonal) return row + step.base;
    std::uint16_t offset = 0;
    const std::size_t place =
        static_cast<std::size_t>(k / group) * 32 + static_cast<std::size_t>(lane);
    std::memcpy(&offset, &c.stored.at(begin + place * 2 + 1) - 1, 2);
    return std::int64_t{step.base} + offset + k % group;
}

/// Checks that slice s holds the rows of its places and nothing else; empty if so.
std::string wrong_slice(const pattern& p, const sell_layout& layout, const sell_columns& c,
                        std::int64_t s) {
    const slice_head& head = c.heads.at(static_cast<std::size_t>(s));
    std::int64_t longest = 0;
    for (int lane = 0; lane < 32; ++lane) {
        const std::int64_t row = layout.row_at(s * 32 + lane);
        std::vector<std::int64_t> found, expected;
        bool gap = false;
        for (std::int32_t k = 0; k < head.length(); ++k) {
            const std::int64_t column = decode(c, head, row, lane, k);
            if (column >= 0 && gap && head.code() != column_code::diagonal)
                return "row " + std::to_string(row) + " has a gap";
            gap = column < 0;
            if (!gap) found.push_back(column);
        }
        if (row >= 0)
            for (auto j = p.offsets[static_cast<std::size_t>(row)];
                 j < p.offsets[static_cast<std::size_t>(row) + 1]; ++j)
                expected.push_back(p.indices[static_cast<std::size_t>(j - p.offsets.front())]);
        if (found != expected) return "row " + std::to_string(row) + " has other columns";
        longest = std::max(longest, static_cast<std::int64_t>(expected.size()));
    }
    return longest == head.length() ? "" : "its length is not that of its longest row";
}

coded check_columns(const pattern& p) {
    coded result{make_sell_layout(p.offsets), {}};
    const sell_layout& layout = result.layout;
    result.columns = make_sell_columns(layout, p.offsets, p.indices);
    const sell_columns& c = result.columns;
    CHECK(choose_column_codes(layout, p.offsets, p.indices) == c.heads);
    REQUIRE(static_cast<std::int64_t>(c.heads.size()) == layout.slices());
    std::uint32_t first = 0, chunks = 0;
    std::int64_t bytes = layout.entries() * 8 + layout.slices() * 16 +
                         static_cast<std::int64_t>(layout.rows.size()) * 4;
    for (std::int64_t s = 0; s < layout.slices(); ++s) {
        const slice_head& head = c.heads[static_cast<std::size_t>(s)];
        CAPTURE(s);
        REQUIRE(head.first == first);
        REQUIRE(head.columns == chunks);
        const std::string wrong = wrong_slice(p, layout, c, s);
        REQUIRE(wrong == "");
        const auto code = static_cast<std::size_t>(head.code());
        const auto length = static_cast<std::uint32_t>(head.length());
        first += length;
        const std::uint32_t groups = code == 3 ? length / 3 : length;
        REQUIRE((code != 3 || length % 3 == 0));
        chunks += groups * std::array<std::uint32_t, 4>{0, 1, 2, 1}.at(code);
        bytes += groups * std::array<std::int64_t, 4>{8, 72, 128, 72}.at(code);
        if (length != 0) ++result.slices.at(code);
    }
    CHECK(first * std::int64_t{32} == layout.entries());
    CHECK(c.stored.size() == chunks * std::size_t{64});
    CHECK(sell_bytes(layout, c.heads, 8) == bytes);
    const bool told = result.slices[0] + result.slices[1] + result.slices[3] > 0;
    CHECK(c.steps.size() == (told ? std::size_t{first} : 0));
    return result;
}

/// Two rows of two entries among 32 of one: the second entries `span` apart, on no diagonal.
pattern spanning(std::int32_t low, std::int32_t span) {
    pattern p;
    for (std::int32_t r = 0; r < 32; ++r) {
        const std::int32_t second = r == 7 ? low + span : low + 3 * r * (r % 2);
        p.add_row({r, second});
    }
    return p;
}

} // namespace

TEST_CASE("sell columns: stencils store none, but where a slice has both sides of a grid") {
    for (const int points : {7, 27})
        for (const int line : {5, 31, 32, 64, 96}) {
            CAPTURE(points);
            CAPTURE(line);
            const coded c = check_columns(stencil(points, line, 9, 8));
            const int all = c.slices[0] + c.slices[1] + c.slices[2];
            CHECK(c.slices[2] == 0);
            if (line % 32 == 0)
                CHECK(c.slices[0] == all);
            else if (c.layout.rows.empty() && line == 31)
                CHECK(c.slices[0] > all / 2);
        }
    const coded c = check_columns(stencil(7, 64, 64, 8));
    CHECK(c.columns.stored.empty());
    // There are 8.25 bytes for an entry stored, and 0.5 for a row.
    CHECK(sell_bytes(c.layout, c.columns.heads, 8) ==
          c.layout.entries() * 33 / 4 + c.layout.row_count / 2);
}

TEST_CASE("sell columns: a boundary row skips the diagonals that it lacks") {
    const coded c = check_columns(stencil(7, 32, 3, 3));
    // The middle line of the grid has all diagonals; its first row lacks the one before it, its
    // last row the next.
    const slice_head& middle = c.columns.heads.at(4);
    REQUIRE(middle.length() == 7);
    const auto step = [&](std::size_t k) { return c.columns.steps.at(middle.first + k); };
    CHECK(step(0) == slice_step{-96, 0xffffffffu});
    CHECK(step(1) == slice_step{-32, 0xffffffffu});
    CHECK(step(2) == slice_step{-1, 0xfffffffeu});
    CHECK(step(3) == slice_step{0, 0xffffffffu});
    CHECK(step(4) == slice_step{1, 0x7fffffffu});
    CHECK(step(6) == slice_step{96, 0xffffffffu});
}

TEST_CASE("sell columns: 16 bits reach 65535 columns") {
    for (const std::int32_t low : {0, 1000, std::numeric_limits<std::int32_t>::max() - 65536}) {
        CAPTURE(low);
        CHECK(check_columns(spanning(low, 65535)).slices == std::array<int, 4>{0, 1, 0, 0});
        CHECK(check_columns(spanning(low, 65536)).slices == std::array<int, 4>{0, 0, 1, 0});
    }
}

TEST_CASE("sell columns: rows of every kind of trouble") {
    check_columns({});
    check_columns(random_pattern(1, 0, 1, 1)); // one row without entries
    check_columns(random_pattern(70, 0, 1, 1));
    const coded one = check_columns(random_pattern(1, 9, 1 << 30, 2));
    CHECK(one.slices[2] == 0); // a row alone is its own diagonals
    const pattern near = random_pattern(2500, 9, 60000, 3);
    const pattern far = random_pattern(2500, 9, 1 << 30, 4);
    CHECK(check_columns(near).slices[1] > 0);
    CHECK(check_columns(near).slices[2] == 0);
    CHECK_FALSE(check_columns(near).layout.rows.empty()); // sorted
    CHECK(check_columns(far).slices[2] > 0);
    for (const pattern& p : {near, far, stencil(27, 31, 6, 5), stencil(7, 64, 4, 4)}) {
        check_columns(shuffled(p, 5));
        check_columns(doubled(p));
        check_columns(shuffled(doubled(p), 6));
    }
    pattern heavy = stencil(7, 40, 10, 4);
    std::vector<std::int32_t> all(5000);
    for (std::int32_t k = 0; k < 5000; ++k) all[static_cast<std::size_t>(k)] = 100'000 * (k % 20);
    heavy.add_row(all);
    check_columns(heavy);
}

TEST_CASE("sell columns: blocks of 3 store one column for three entries") {
    const pattern near = testing::triples_of(random_pattern(700, 9, 15000, 5));
    const coded c = check_columns(near);
    CHECK(c.slices[3] > 0);
    CHECK(c.slices[1] == 0);
    // A row whose last block lacks an entry, and one whose columns have a gap, are none of theirs.
    for (const bool shorter : {false, true}) {
        pattern broken;
        for (std::int32_t row = 0; row < 96; ++row) {
            std::vector<std::int32_t> columns = {row / 3 * 3,   row / 3 * 3 + 1, row / 3 * 3 + 2,
                                                 5 * row + 300, 5 * row + 301,   5 * row + 302};
            if (row == 40 && shorter) columns.pop_back();
            if (row == 40 && !shorter) ++columns.back();
            broken.add_row(columns);
        }
        CHECK(check_columns(broken).slices == std::array<int, 4>{0, 1, 0, 2});
    }
    // The first columns of blocks may be 65535 apart.
    for (const std::int32_t span : {65535, 65536}) {
        pattern p;
        for (std::int32_t row = 0; row < 32; ++row) {
            const std::int32_t first = row == 7 ? span : 7 * (row % 2) * row;
            p.add_row({first, first + 1, first + 2});
        }
        CHECK(check_columns(p).slices ==
              (span == 65535 ? std::array<int, 4>{0, 0, 0, 1} : std::array<int, 4>{0, 0, 1, 0}));
    }
    // Few of them are stored as others are.
    pattern few = near;
    const pattern rest = random_pattern(7000, 9, 60000, 6);
    for (std::int64_t row = 0; row < rest.rows(); ++row)
        few.add_row(std::vector<std::int32_t>(
            rest.indices.begin() + rest.offsets[static_cast<std::size_t>(row)],
            rest.indices.begin() + rest.offsets[static_cast<std::size_t>(row) + 1]));
    CHECK(check_columns(few).slices[3] == 0);
}

TEST_CASE("sell columns: stencils in sorted windows keep their diagonals") {
    // Rows without entries lie between those of a tridiagonal matrix, and are sorted apart.
    pattern p;
    for (std::int32_t r = 0; r < 2048; ++r)
        if (r % 2 == 0)
            p.add_row({});
        else
            p.add_row({r - 1, r, r + 1});
    const coded c = check_columns(p);
    REQUIRE_FALSE(c.layout.rows.empty());
    CHECK(c.slices == std::array<int, 4>{32, 0, 0, 0});
}

TEST_CASE("sell columns: a block from the middle of a matrix") {
    for (pattern p : {stencil(7, 31, 9, 3), random_pattern(100, 6, 1 << 20, 7)}) {
        for (auto& offset : p.offsets) offset += std::int64_t{1} << 33;
        check_columns(p);
    }
}

} // namespace krylith
