// What the choice of a format is told about the lengths of rows.
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/pattern/block_lengths.hpp>
#include <krylith/sparse/pattern/csr_tiles.hpp>

#include <krylith/tests/support/patterns.hpp>

namespace krylith {

TEST_CASE("lengths of rows: equal ones") {
    const auto p = testing::stencil(7, 32, 4, 4);
    const block_lengths found = measure_lengths(p.offsets);
    CHECK(found.rows == 512);
    CHECK(found.nonzeros == p.offsets.back());
    CHECK(found.longest == longest_row{32 * 5 + 1, 7}); // the first one inside
    CHECK(found.in_long_rows == 0);
    CHECK(found.slice_columns > found.nonzeros / 32);
}

TEST_CASE("lengths of rows: long ones, and an offset to begin with") {
    std::vector<std::int64_t> offsets{9};
    for (int row = 0; row < 64; ++row)
        offsets.push_back(offsets.back() + (row == 40 || row == 50 ? csr_tile_entries + 1 : 2));
    const block_lengths found = measure_lengths(offsets);
    CHECK(found.longest == longest_row{40, csr_tile_entries + 1});
    CHECK(found.in_long_rows == 2 * (csr_tile_entries + 1));
    CHECK(found.sorted);
    CHECK(found.slice_columns == csr_tile_entries + 1 + 2); // both are in the first slice
}

TEST_CASE("lengths of rows: none") {
    CHECK(measure_lengths(std::vector<std::int64_t>{0}) == block_lengths{});
}

} // namespace krylith
