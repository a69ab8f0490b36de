// The merge path against one that is written out item by item, and its division. Pure arithmetic.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/merge/merge_path.hpp>
#include <krylith/sparse/merge/merge_scratch.hpp>

#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::offsets_of;

namespace {

std::vector<std::vector<std::int64_t>> merge_length_cases() {
    testing::random_numbers random(71);
    std::vector<std::int64_t> mixed(9000);
    for (auto& length : mixed) length = random.below(30) * random.below(2);
    std::vector<std::int64_t> heavy(5000, 3);
    heavy[0] = heavy[2500] = 30'000;
    heavy[2501] = 0;
    heavy[4999] = 5'001;
    std::vector<std::int64_t> bordering; // rows that end where a tile does, before and after
    for (const int more : {-1, 0, 1, -2, 0}) bordering.push_back(merge_tile_items - 1 + more);
    return {{},
            {0},
            {1},
            {100'000},
            {0, 0, 100'000, 0, 0},
            std::vector<std::int64_t>(5000, 0),
            std::vector<std::int64_t>(4000, 1),
            std::vector<std::int64_t>(2048, 6),
            bordering,
            mixed,
            heavy};
}

/// The items of the path, one after the other: the entries of a row, then its end.
struct item {
    std::int64_t row;
    bool ends;
};

std::vector<item> written_out(const std::vector<std::int64_t>& lengths) {
    std::vector<item> path;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        path.insert(path.end(), static_cast<std::size_t>(lengths[row]),
                    {static_cast<std::int64_t>(row), false});
        path.push_back({static_cast<std::int64_t>(row), true});
    }
    return path;
}

} // namespace

TEST_CASE("merge path: rows that end before an item are those of the path written out") {
    for (const auto& lengths : merge_length_cases())
        for (const std::int64_t base : {std::int64_t{0}, std::int64_t{1} << 33}) {
            CAPTURE(lengths.size());
            const auto offsets = offsets_of(lengths, base);
            const auto path = written_out(lengths);
            const auto rows = static_cast<std::int64_t>(lengths.size());
            std::int64_t ended = 0;
            bool good = true;
            for (std::size_t at = 0; at <= path.size(); ++at) {
                good = good && ended == rows_ended(offsets.data() + 1, rows,
                                                   base + static_cast<std::int64_t>(at));
                if (at < path.size() && path[at].ends) ++ended;
            }
            CHECK(good);
            CHECK(ended == rows);
        }
}

TEST_CASE("merge path: 32-bit numbers of rows and entries give the same as 64 bits") {
    const std::vector<std::int64_t> lengths{4, 0, 9, 1};
    const auto offsets = offsets_of(lengths, 0);
    const std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
    for (int items = 0; items <= 18; ++items)
        CHECK(rows_ended(narrow.data() + 1, std::int32_t{4}, items) ==
              rows_ended(offsets.data() + 1, std::int64_t{4}, std::int64_t{items}));
}

TEST_CASE("merge path: chunks have every item once, and no team more than its share") {
    for (const auto& lengths : merge_length_cases())
        for (const std::int64_t teams : {1, 2, 3, 7, 528, 20'000}) {
            CAPTURE(lengths.size());
            CAPTURE(teams);
            const auto offsets = offsets_of(lengths, 5);
            const auto rows = static_cast<std::int64_t>(lengths.size());
            const auto path = written_out(lengths);
            const auto division = divide_merge_path(rows, offsets.back() - 5, teams);
            REQUIRE(division.items == static_cast<std::int64_t>(path.size()));
            REQUIRE(division.chunks <= most_merge_chunks);
            CHECK(division.chunk_begin(0) == 0);
            CHECK(division.chunk_begin(division.chunks) == division.items);
            bool good = true;
            for (std::int64_t c = 0; c < division.chunks; ++c) {
                const std::int64_t begin = division.chunk_begin(c);
                const std::int64_t end = division.chunk_begin(c + 1);
                good = good && begin < end &&
                       end - begin <= std::int64_t{division.tiles_per_chunk} * merge_tile_items;
                const touched_rows touched = rows_of_chunk(offsets.data(), rows, division, c);
                good = good && touched.first == path[static_cast<std::size_t>(begin)].row &&
                       touched.last > path[static_cast<std::size_t>(end) - 1].row &&
                       touched.last <= path[static_cast<std::size_t>(end) - 1].row + 2;
            }
            CHECK(good);
        }
}

TEST_CASE("merge path: teams are busy for 97% of the turns") {
    for (const std::int64_t teams : {1, 100, 528, 1184})
        for (const std::int64_t tiles : {1, 5, 527, 528, 529, 4'752, 10'000, 74'898, 3'000'001}) {
            CAPTURE(teams);
            CAPTURE(tiles);
            const auto path = divide_merge_path(tiles, tiles * (merge_tile_items - 1), teams);
            REQUIRE(path.tiles == tiles);
            const std::int64_t tiles_of_team = (tiles + teams - 1) / teams;
            const std::int64_t trips = (path.chunks + teams - 1) / teams;
            CHECK(trips * path.tiles_per_chunk <= tiles_of_team + tiles_of_team / 32);
            CHECK(trips <= 8);
        }
}

TEST_CASE("merge path: beyond 32 bits of nonzeros") {
    const auto path = divide_merge_path(3, std::int64_t{5'000'000'000}, 528);
    CHECK(path.items == 5'000'000'003);
    CHECK(path.chunk_begin(path.chunks) == path.items);
    CHECK(path.chunk_begin(path.chunks - 1) < path.items);
    const std::vector<std::int64_t> offsets{0, 10, 4'999'999'990, 5'000'000'000};
    CHECK(rows_of_chunk(offsets.data(), 3, path, 0).first == 0);
    CHECK(rows_of_chunk(offsets.data(), 3, path, path.chunks / 2).first == 1);
    CHECK(rows_of_chunk(offsets.data(), 3, path, path.chunks / 2).last == 2);
    CHECK(rows_of_chunk(offsets.data(), 3, path, path.chunks - 1).last == 3);
}

TEST_CASE("merge path: parts of the scratch memory lie behind each other and inside it") {
    for (const std::int64_t nonzeros : {0, 1, 5'000, 40'000'000}) {
        std::vector<std::byte> memory(merge_scratch<double>::bytes(1000, nonzeros));
        const auto parts = merge_scratch<double>::in(memory.data(), 1000, nonzeros);
        const auto at = [&](const void* part) {
            return reinterpret_cast<std::uintptr_t>(part) -
                   reinterpret_cast<std::uintptr_t>(memory.data());
        };
        const auto path = divide_merge_path(1000, nonzeros, 528);
        const auto chunks = static_cast<std::size_t>(path.chunks);
        CHECK(at(parts.finished) == 0);
        CHECK(at(parts.edges.heads) == 16);
        CHECK(at(parts.edges.carries) >= at(parts.edges.heads) + 8 * chunks);
        CHECK(at(parts.edges.rows) >= at(parts.edges.carries) + 8 * chunks);
        CHECK(at(parts.tile_rows) >= at(parts.edges.rows) + 4 * chunks);
        CHECK(at(parts.tile_rows) + 4 * (static_cast<std::size_t>(path.tiles) + 1) ==
              memory.size());
    }
}

} // namespace krylith
