#include <krylith/partition/halo/index_map.hpp>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/matrix/types/mocked_index_limit.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace krylith::partition_tests {

namespace {

using entry_set = std::set<std::int64_t>;

// The map against what it stands for: local numbers count the entries that a rank has, ascending.
void check_map(const index_map& map, const std::vector<entry_set>& had) {
    const row_partition& owners = map.owners();
    std::vector<std::int64_t> given(had.size());
    for (int rank = 0; rank < map.ranks(); ++rank) {
        CAPTURE(rank);
        const entry_set& mine = had[as_size(rank)];
        const local_indices& indices = map.local(rank);
        const row_range owned = owners.owned(rank);
        REQUIRE(indices.count() == static_cast<std::int64_t>(mine.size()));
        CHECK(indices.ghost_count() == indices.count() - owned.size());
        CHECK(indices.first_owned() == std::distance(mine.begin(), mine.lower_bound(owned.begin)));
        CHECK(map.has_all(rank) == (indices.count() == owners.rows()));
        std::vector<neighbour_ghosts> neighbours;
        std::int64_t number = 0;
        bool same = true;
        for (std::int64_t entry = -2; entry < owners.rows() + 2; ++entry) {
            if (!mine.contains(entry)) {
                same = same && indices.local(entry) == -1;
                continue;
            }
            same = same && indices.local(entry) == number && indices.global(number) == entry;
            const int owner = owners.owner(entry);
            if (owner != rank) {
                if (neighbours.empty() || neighbours.back().owner != owner)
                    neighbours.push_back({owner, number, 0});
                ++neighbours.back().count;
                ++given[as_size(owner)];
            }
            ++number;
        }
        CHECK(same);
        CHECK(map.neighbours(rank) == neighbours);
    }
    for (int rank = 0; rank < map.ranks(); ++rank) CHECK(map.given(rank) == given[as_size(rank)]);
}

const std::vector<row_partition> some_owners{
    equal_rows(40, 1),
    equal_rows(40, 3),
    {{0, 0, 5, 5, 5, 17, 17, 40, 40}}, // ranks without entries at both ends and in the middle
    {{0, 0, 0, 40}},
    {{0, 40, 40, 40}},
    equal_rows(3, 7),
    equal_rows(0, 2),
};

} // namespace

TEST_CASE("index_map: numbers, neighbours and what is given, against sorted sets of entries") {
    std::mt19937 generator(1);
    for (const row_partition& owners : some_owners)
        for (const int percent : {0, 3, 30, 90, 100}) {
            CAPTURE(owners.begin);
            CAPTURE(percent);
            std::vector<entry_set> had(as_size(owners.ranks()));
            std::vector<local_indices> local;
            bool any = false;
            for (int rank = 0; rank < owners.ranks(); ++rank) {
                const row_range owned = owners.owned(rank);
                std::vector<std::int64_t> ghosts;
                for (std::int64_t entry = 0; entry < owners.rows(); ++entry) {
                    const bool mine = owned.contains(entry);
                    if (!mine && static_cast<int>(generator() % 100) >= percent) continue;
                    had[as_size(rank)].insert(entry);
                    if (!mine) ghosts.push_back(entry);
                }
                any = any || !ghosts.empty();
                local.emplace_back(owned, ghosts);
                CHECK(local.back().ghosts() == ghosts);
            }
            const index_map map(owners, local);
            check_map(map, had);
            CHECK(map.any_ghosts() == any);
            CHECK_FALSE(map.is_whole());
            if (percent == 0) CHECK(map == index_map(owners));
        }
}

TEST_CASE("index_map: ranks that have all entries, or none of others, need no lists") {
    for (const row_partition& owners : some_owners)
        for (int without = -1; without < owners.ranks(); ++without) { // the rank without ghosts
            CAPTURE(owners.begin);
            CAPTURE(without);
            std::vector<entry_set> had(as_size(owners.ranks()));
            std::vector<local_indices> local;
            bool any = false;
            for (int rank = 0; rank < owners.ranks(); ++rank) {
                const row_range owned = owners.owned(rank);
                const row_range has = rank == without ? owned : row_range{0, owners.rows()};
                for (std::int64_t entry = has.begin; entry < has.end; ++entry)
                    had[as_size(rank)].insert(entry);
                local.push_back(rank == without ? local_indices(owned)
                                                : local_indices::all(owned, owners.rows()));
                CHECK(local.back().ghosts().empty());
                CHECK(local.back().has_all() == (has != owned));
                any = any || has != owned;
            }
            const index_map map(owners, local);
            check_map(map, had);
            CHECK(map.any_ghosts() == any);
            CHECK(map.is_whole() == any);
        }
}

TEST_CASE("index_map: a rank between its neighbours, by hand") {
    // Rank 2 owns 4 to 6; ranks 1 and 4 have nothing, and rank 5 nothing that is needed.
    const row_partition owners{{0, 4, 4, 7, 9, 9, 10, 12}};
    const local_indices mine({4, 7}, {1, 3, 7, 8, 11});
    const index_map map(
        owners, {{{0, 4}}, {{4, 4}, {0}}, mine, {{7, 9}, {6}}, {{9, 9}}, {{9, 10}}, {{10, 12}}});
    CHECK(map.ranks() == 7);
    CHECK(map.size() == 12);
    CHECK(map.owned(2) == row_range{4, 7});
    CHECK(mine.first_owned() == 2);
    CHECK(mine.count() == 8);
    const std::vector<std::int64_t> globals{1, 3, 4, 5, 6, 7, 8, 11};
    for (std::int64_t k = 0; k < 8; ++k) CHECK(mine.global(k) == globals[as_size(k)]);
    CHECK(mine.local(2) == -1);
    CHECK(map.neighbours(2) == std::vector<neighbour_ghosts>{{0, 0, 2}, {3, 5, 2}, {6, 7, 1}});
    CHECK(map.neighbours(1) == std::vector<neighbour_ghosts>{{0, 0, 1}});
    CHECK(map.neighbours(0).empty());
    CHECK(map.given(0) == 3);
    CHECK(map.given(2) == 1);
    CHECK(map.given(5) == 0);
}

TEST_CASE("index_map: global numbers beyond 32 bits") {
    const std::int64_t a = 1700000000;
    const std::int64_t b = 3400000000;
    const std::int64_t size = 5000000000;
    const local_indices middle({a, b}, {0, a - 1, b, size - 1});
    const local_indices last({b, size}, {1, 2147483647, 2147483648, b - 1});
    const row_partition owners{{0, a, b, size}};
    const index_map map(owners, {{{0, a}}, middle, last});
    CHECK(map.size() == size);
    CHECK(middle.count() == 1700000004);
    for (const auto& [local, global] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {1, a - 1}, {2, a}, {a + 1, b - 1}, {a + 2, b}, {a + 3, size - 1}}) {
        CHECK(middle.global(local) == global);
        CHECK(middle.local(global) == local);
    }
    CHECK(middle.local(size - 1 - (std::int64_t{1} << 32)) == -1); // equal in 32 bits
    CHECK(last.global(1) == 2147483647);
    CHECK(last.local(2147483648) == 2);
    CHECK(last.local(b) == 4);
    CHECK(last.global(last.count() - 1) == size - 1);
    CHECK(map.neighbours(1) == std::vector<neighbour_ghosts>{{0, 0, 2}, {2, a + 2, 2}});
    CHECK(map.neighbours(2) == std::vector<neighbour_ghosts>{{0, 0, 1}, {1, 1, 3}});
    CHECK(map.given(0) == 3);
    CHECK(map.given(1) == 3);
    CHECK(map.given(2) == 2);
    const auto all = [&](int rank) { return local_indices::all(owners.owned(rank), size); };
    CHECK_THROWS_WITH_AS(index_map(owners, {all(0), all(1), all(2)}),
                         "index_map: rank 0 owns 1700000000 columns and references 3300000000 "
                         "ghosts; local indices have 32 bits, so both together must be at most "
                         "2147483647: use more devices",
                         input_error);
}

TEST_CASE("index_map: equal are maps of the same entries and the same kind") {
    const row_partition owners = equal_rows(6, 2);
    const index_map map(owners, {{{0, 3}, {4, 5}}, {{3, 6}}});
    const index_map copy = map; // NOLINT(performance-unnecessary-copy-initialization): has the list
    CHECK(copy == map);
    CHECK(&copy.local(0).ghosts() == &map.local(0).ghosts());
    CHECK(map == index_map(owners, {{{0, 3}, {4, 5}}, {{3, 6}}}));
    CHECK_FALSE(map == index_map(owners, {{{0, 3}, {3, 5}}, {{3, 6}}}));
    CHECK_FALSE(map == index_map(owners, {{{0, 3}, {4}}, {{3, 6}}}));
    CHECK_FALSE(map == index_map(owners, {{{0, 3}, {4, 5}}, {{3, 6}, {2}}}));
    CHECK_FALSE(map == index_map(owners));
    CHECK_FALSE(index_map(owners) == index_map({{0, 2, 6}}));
    CHECK_FALSE(local_indices({0, 3}, {4}) == local_indices({0, 2}, {4}));
    CHECK_FALSE(local_indices::all({0, 3}, 6) == local_indices({0, 3}, {3, 4, 5}));
    CHECK_FALSE(local_indices::all({0, 3}, 6) == local_indices::all({0, 3}, 7));
    CHECK(local_indices::all({0, 3}, 3) == local_indices({0, 3}));
}

TEST_CASE("index_map refuses what is no map") {
    const row_partition owners = equal_rows(6, 2);
    CHECK_THROWS_AS(index_map(row_partition{}), usage_error);
    CHECK_THROWS_WITH_AS(index_map({{0, 4, 3}}), doctest::Contains("must not be below begin[1]"),
                         usage_error);
    CHECK_THROWS_WITH_AS(index_map(owners, {{{0, 3}}}), "index_map: 1 sets of indices for 2 ranks",
                         usage_error);
    CHECK_THROWS_WITH_AS(index_map(owners, {{{0, 3}}, {{3, 6}}, {{6, 6}}}),
                         "index_map: 3 sets of indices for 2 ranks", usage_error);
    CHECK_THROWS_WITH_AS(index_map(owners, {{{0, 3}}, {{4, 6}}}),
                         "index_map: the indices of rank 1 own [4, 6), the partition says [3, 6)",
                         usage_error);
    // A list and all entries, in both orders.
    CHECK_THROWS_WITH_AS(index_map(owners, {local_indices::all({0, 3}, 6), {{3, 6}, {2}}}),
                         doctest::Contains("some ranks have all entries and others lists"),
                         usage_error);
    CHECK_THROWS_AS(index_map(owners, {{{0, 3}, {3, 4, 5}}, local_indices::all({3, 6}, 6)}),
                    usage_error);

    const index_map map(owners);
    for (const int rank : {-1, 2}) {
        CHECK_THROWS_AS((void)map.local(rank), usage_error);
        CHECK_THROWS_AS((void)map.owned(rank), usage_error);
        CHECK_THROWS_AS((void)map.has_all(rank), usage_error);
        CHECK_THROWS_AS((void)map.neighbours(rank), usage_error);
        CHECK_THROWS_AS((void)map.given(rank), usage_error);
    }
}

TEST_CASE("index_map refuses more entries than 32 bits number") {
    // 2^31 - 5 owned entries and 4 ghosts just fit, one more doesn't.
    const auto of_size = [](std::int64_t owned) {
        const row_partition owners{{0, owned, owned + 8}};
        const local_indices first({0, owned}, {owned, owned + 1, owned + 2, owned + 3});
        return index_map(owners, {first, {{owned, owned + 8}}});
    };
    CHECK(of_size(2147483643).local(0).count() == 2147483647);
    CHECK_THROWS_AS((void)of_size(2147483644), input_error);
    CHECK_THROWS_AS(index_map({{0, 1, 2147483649}}), input_error);

    // Three ranks read one entry: each has two, but its owner gives three.
    const row_partition owners = equal_rows(4, 4);
    const auto star = [&] {
        return index_map(owners, {{{0, 1}}, {{1, 2}, {0}}, {{2, 3}, {0}}, {{3, 4}, {0}}});
    };
    {
        const mocked_index_limit enough(3);
        CHECK(star().given(0) == 3);
    }
    const mocked_index_limit too_little(2);
    CHECK_THROWS_WITH_AS((void)star(),
                         "index_map: the number of entries that rank 0 sends to all others is 3, "
                         "allowed are 0 to 2",
                         input_error);
}

} // namespace krylith::partition_tests
