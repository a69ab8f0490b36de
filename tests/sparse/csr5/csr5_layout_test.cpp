// The arrays of CSR5 against a plain transcription of the paper's definitions (Liu and Vinter, ICS
// 2015, section 3.2), entry by entry, and on a small matrix by hand. Pure arithmetic.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/csr5/csr5_division.hpp>
#include <krylith/sparse/csr5/csr5_layout.hpp>

#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::offsets_of;

namespace {

/// The paper's arrays, each number by itself.
struct paper_tiles {
    std::vector<std::int64_t> tile_ptr;
    std::vector<bool> has_empty;
    std::vector<std::vector<std::vector<bool>>> bit_flag; ///< [tile][lane][entry]
    std::vector<std::vector<int>> y_offset;               ///< [tile][lane]
    std::vector<std::vector<int>> seg_offset;
    std::vector<std::vector<std::int64_t>> empty_offset; ///< [tile][segment], if it has empty rows
};

paper_tiles transcribe(const std::vector<std::int64_t>& lengths, int omega, int sigma) {
    std::vector<std::int64_t> row_of; // of each entry
    for (std::size_t row = 0; row < lengths.size(); ++row)
        row_of.insert(row_of.end(), static_cast<std::size_t>(lengths[row]),
                      static_cast<std::int64_t>(row));
    const std::size_t tile_entries =
        static_cast<std::size_t>(omega) * static_cast<std::size_t>(sigma);
    paper_tiles p;
    for (std::size_t first = 0; first < row_of.size(); first += tile_entries) {
        p.tile_ptr.push_back(row_of[first]);
        const auto behind = first + tile_entries < row_of.size()
                                ? row_of[first + tile_entries]
                                : static_cast<std::int64_t>(lengths.size());
        bool empty = false;
        for (auto row = row_of[first]; row < behind; ++row)
            empty = empty || lengths[static_cast<std::size_t>(row)] == 0;
        p.has_empty.push_back(empty);
        std::vector<std::vector<bool>> flags(static_cast<std::size_t>(omega),
                                             std::vector<bool>(static_cast<std::size_t>(sigma)));
        std::vector<std::int64_t> offsets;
        for (std::size_t k = 0; k < tile_entries && first + k < row_of.size(); ++k) {
            const bool begins = k == 0 || row_of[first + k] != row_of[first + k - 1];
            flags[k / static_cast<std::size_t>(sigma)][k % static_cast<std::size_t>(sigma)] =
                begins;
            if (begins) offsets.push_back(row_of[first + k] - row_of[first]);
        }
        std::vector<int> y(static_cast<std::size_t>(omega));
        std::vector<int> seg(static_cast<std::size_t>(omega));
        const auto has_flag = [&](int lane) {
            for (const bool flag : flags[static_cast<std::size_t>(lane)])
                if (flag) return true;
            return false;
        };
        for (int lane = 0; lane < omega; ++lane) {
            for (int before = 0; before < lane; ++before)
                for (const bool flag : flags[static_cast<std::size_t>(before)])
                    y[static_cast<std::size_t>(lane)] += flag ? 1 : 0;
            if (!has_flag(lane)) continue;
            for (int next = lane + 1; next < omega && !has_flag(next); ++next)
                ++seg[static_cast<std::size_t>(lane)];
        }
        p.bit_flag.push_back(flags);
        p.y_offset.push_back(y);
        p.seg_offset.push_back(seg);
        p.empty_offset.push_back(empty ? offsets : std::vector<std::int64_t>{});
    }
    p.tile_ptr.push_back(static_cast<std::int64_t>(lengths.size()));
    return p;
}

void check_layout(const std::vector<std::int64_t>& lengths, int omega, int sigma,
                  std::int64_t base) {
    CAPTURE(lengths.size());
    CAPTURE(omega);
    CAPTURE(sigma);
    const paper_tiles expected = transcribe(lengths, omega, sigma);
    const csr5_layout made = make_csr5_layout(offsets_of(lengths, base), {omega, sigma});
    const std::size_t tiles = expected.bit_flag.size();
    REQUIRE(made.tile_rows.size() == tiles + 1);
    REQUIRE(made.empty_begin.size() == tiles + 1);
    REQUIRE(made.lanes.size() == tiles * static_cast<std::size_t>(omega));
    REQUIRE(made.shape.tiles_of(offsets_of(lengths).back()) == static_cast<std::int64_t>(tiles));
    bool good = true;
    std::size_t segments = 0;
    for (std::size_t t = 0; t < tiles; ++t) {
        good = good && csr5_tile_row::row(made.tile_rows[t]) == expected.tile_ptr[t] &&
               csr5_tile_row::has_empty(made.tile_rows[t]) == expected.has_empty[t] &&
               made.empty_begin[t] == segments;
        for (std::size_t i = 0; i < static_cast<std::size_t>(omega); ++i) {
            const std::uint32_t word = made.lanes[t * static_cast<std::size_t>(omega) + i];
            good = good && csr5_lane::y_offset(word) == expected.y_offset[t][i] &&
                   csr5_lane::seg_offset(word) == expected.seg_offset[t][i];
            for (std::size_t j = 0; j < most_csr5_sigma; ++j)
                good = good &&
                       (csr5_lane::flags(word) >> j & 1U) ==
                           (j < expected.bit_flag[t][i].size() && expected.bit_flag[t][i][j] ? 1U
                                                                                             : 0U);
        }
        for (const std::int64_t offset : expected.empty_offset[t])
            good = good && made.empty_offsets.at(segments++) == offset;
    }
    CHECK(good);
    CHECK(made.empty_offsets.size() == segments);
    CHECK(made.empty_begin.back() == segments);
    CHECK(made.tile_rows.back() == lengths.size());
    std::vector<std::int32_t> empty;
    for (std::size_t row = 0; row < lengths.size(); ++row)
        if (lengths[row] == 0) empty.push_back(static_cast<std::int32_t>(row));
    CHECK(made.empty_rows == empty);
}

/// Lengths of rows, each with a difficulty of its own.
std::vector<std::vector<std::int64_t>> csr5_length_cases() {
    testing::random_numbers random(91);
    std::vector<std::int64_t> mixed(3000);
    for (auto& length : mixed) length = random.below(40) * random.below(2);
    std::vector<std::int64_t> heavy(1500, 3);
    heavy[0] = heavy[700] = 5000;
    heavy[701] = 0;
    std::vector<std::int64_t> bordering; // empty rows where tiles of every shape begin
    for (int k = 0; k < 40; ++k) {
        bordering.push_back(512);
        bordering.insert(bordering.end(), static_cast<std::size_t>(k % 4), 0);
    }
    return {{},
            {0},
            {1},
            {0, 0, 5000, 0},
            {512},
            {511, 1, 1},
            std::vector<std::int64_t>(600, 0),
            std::vector<std::int64_t>(1500, 1),
            std::vector<std::int64_t>(256, 7),
            mixed,
            heavy,
            bordering};
}

} // namespace

TEST_CASE("csr5 layout: arrays are those of the paper's definitions") {
    for (const auto& lengths : csr5_length_cases()) {
        for (const int sigma : {1, 4, 7, 8, 12, 16}) check_layout(lengths, csr5_omega, sigma, 0);
        check_layout(lengths, 4, 4, 12'345); // a block from the middle of a matrix
        check_layout(lengths, 4, 4, std::int64_t{1} << 33);
    }
}

TEST_CASE("csr5 layout: a matrix of 8 rows and 34 nonzeros in tiles of 4 x 4, by hand") {
    // Two whole tiles and one of two entries. Row 4 is empty, in the second tile.
    const std::vector<std::int64_t> lengths{3, 4, 8, 5, 0, 6, 4, 4};
    const csr5_layout made = make_csr5_layout(offsets_of(lengths), {4, 4});
    constexpr std::uint32_t mark = csr5_tile_row::mark;
    CHECK(made.tile_rows == std::vector<std::uint32_t>{0, 3 | mark, 7, 8});
    // Entries 0, 3, 7 and 15 of the first tile begin rows; of the second 0 begins the tile, 4, 10
    // and 14 begin rows.
    const auto lane = csr5_lane::pack;
    CHECK(made.lanes ==
          std::vector<std::uint32_t>{
              lane(0b1001, 0, 0), lane(0b1000, 2, 1), lane(0, 3, 0), lane(0b1000, 3, 0),      //
              lane(0b0001, 0, 0), lane(0b0001, 1, 0), lane(0b0100, 2, 0), lane(0b0100, 3, 0), //
              lane(0b0001, 0, 3), lane(0, 1, 0), lane(0, 1, 0), lane(0, 1, 0)});
    CHECK(made.empty_begin == std::vector<std::uint32_t>{0, 0, 4, 4});
    CHECK(made.empty_offsets == std::vector<std::int32_t>{0, 2, 3, 4});
    CHECK(made.empty_rows == std::vector<std::int32_t>{4});
}

TEST_CASE("csr5 layout: places are a transposition of each whole tile") {
    for (const csr5_shape shape : {csr5_shape{4, 4}, csr5_shape{32, 7}, csr5_shape{32, 16}})
        for (const std::int64_t nonzeros : {0, 1, 15, 16, 34, 511, 512, 513, 5000}) {
            CAPTURE(shape.sigma);
            CAPTURE(nonzeros);
            std::vector<int> taken(static_cast<std::size_t>(nonzeros));
            bool good = true;
            for (std::int64_t entry = 0; entry < nonzeros; ++entry) {
                const std::int64_t place = shape.place_of(entry, nonzeros);
                ++taken.at(static_cast<std::size_t>(place));
                good = good && shape.entry_at(place, nonzeros) == entry &&
                       place / shape.tile_entries() == entry / shape.tile_entries();
            }
            CHECK(good);
            CHECK(std::accumulate(taken.begin(), taken.end(), std::int64_t{0}) == nonzeros);
            if (nonzeros >= shape.tile_entries()) {
                CHECK(shape.place_of(1, nonzeros) == shape.omega);
                CHECK(shape.place_of(shape.sigma, nonzeros) == 1);
            }
        }
    CHECK(csr5_shape{32, 16}.place_of((std::int64_t{1} << 33) + 1, std::int64_t{1} << 34) ==
          (std::int64_t{1} << 33) + 32);
}

TEST_CASE("csr5 division: every tile and empty row once, and no team more than its share") {
    for (const std::int64_t teams : {1, 2, 7, 264, 528, 20'000})
        for (const std::int64_t tiles : {0, 1, 7, 8, 9, 4'000, 117'000, 3'000'001})
            for (const std::int64_t empty : {0, 5, 4'096, 1'000'000}) {
                CAPTURE(teams);
                CAPTURE(tiles);
                CAPTURE(empty);
                const csr5_division d = divide_csr5_tiles(tiles, empty, teams);
                REQUIRE(d.chunks >= 1);
                REQUIRE(d.chunks <= most_merge_chunks);
                CHECK(d.chunks * d.chunk_tiles() >= tiles);
                if (d.chunks > 1 && empty < 4'096) CHECK((d.chunks - 1) * d.chunk_tiles() < tiles);
                CHECK(empty_rows_before(empty, 0, d.chunks) == 0);
                CHECK(empty_rows_before(empty, d.chunks, d.chunks) == empty);
                const std::int64_t of_team =
                    (tiles + teams * csr5_parts - 1) / (teams * csr5_parts);
                if (teams <= most_merge_chunks)
                    CHECK((d.chunks + teams - 1) / teams * d.part_tiles <=
                          of_team + of_team / 32 + 1);
            }
}

} // namespace krylith
