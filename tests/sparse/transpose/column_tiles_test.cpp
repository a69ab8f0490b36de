// How columns are cut into tiles, and rows into chunks.
#include <krylith/sparse/transpose/column_tiles.hpp>

#include <doctest/doctest.h>

namespace krylith {

TEST_CASE("column tiles: they cover all rows and columns, and are half full on the average") {
    constexpr int capacity = 4096;
    for (const std::int64_t rows : {1, 31, 32, 33, 1000, 16777216})
        for (const std::int64_t columns : {1, 2, 100, 65537, 2147483647})
            for (const std::int64_t nonzeros : {std::int64_t{1}, 7 * rows, 200 * rows}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(nonzeros);
                const column_tiles t = make_column_tiles(rows, columns, nonzeros, capacity);
                CHECK(t.tiles * t.tile_columns() >= columns);
                CHECK((t.tiles - 1) * t.tile_columns() < columns);
                CHECK(t.chunks * t.chunk_rows >= rows);
                CHECK((t.chunks - 1) * t.chunk_rows < rows);
                CHECK(t.chunk_rows % 32 == 0);
                CHECK(t.tile_bits <= column_tiles::most_tile_bits);
                const double filled = static_cast<double>(nonzeros) *
                                      static_cast<double>(t.tile_columns()) /
                                      static_cast<double>(columns);
                if (t.tile_bits > 0) CHECK(filled <= capacity / 2);
            }
}

TEST_CASE("column tiles: none without nonzeros, and not for too many columns") {
    CHECK_FALSE(make_column_tiles(0, 5, 0, 4096).possible());
    CHECK_FALSE(make_column_tiles(5, 0, 0, 4096).possible());
    CHECK_FALSE(make_column_tiles(5, 5, 0, 4096).possible());
    CHECK(make_column_tiles(16777216, 16777216, 117047296, 4096).possible());
    const column_tiles mesh = make_column_tiles(16777216, 16777216, 117047296, 4096);
    CHECK(mesh.tile_columns() == 256);
    CHECK(mesh.chunk_rows == 256);
}

} // namespace krylith
