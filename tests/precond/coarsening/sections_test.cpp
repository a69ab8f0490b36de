// Numbers of aggregates on ranks that have memory for those that they own or use.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregate_array.hpp>
#include <krylith/precond/coarsening/sections.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::aggregation {

namespace {

/// 40 aggregates, of which each rank uses two before and three behind its own.
struct spread_aggregates {
    row_partition owners;
    std::vector<row_range> used;
    std::vector<aggregate_array<wide>> arrays; ///< two numbers each
    std::vector<wide*> places;

    explicit spread_aggregates(const device_group& group) : owners(equal_rows(40, group.size())) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const row_range own = owners.owned(rank);
            used.push_back({std::max<std::int64_t>(own.begin - 2, 0),
                            std::min<std::int64_t>(own.end + 3, 40)});
            arrays.emplace_back(group.handle(rank), window_of(own, used.back()), 2, "test");
            places.push_back(arrays.back().data());
        }
    }
    /// Writes value(rank, aggregate, number) wherever a rank has memory.
    template <class Value>
    void fill(const device_group& group, const Value& value) {
        for (int rank = 0; rank < group.size(); ++rank) {
            const row_range here = used[as_size(rank)];
            std::vector<wide> all;
            for (std::int64_t g = here.begin; g < here.end; ++g)
                for (const int number : {0, 1}) all.push_back(value(rank, g, number));
            group[rank].upload(places[as_size(rank)] + 2 * here.begin, all.data(),
                               all.size() * sizeof(wide));
        }
    }
    [[nodiscard]] wide at(const device_group& group, int rank, std::int64_t g, int number) const {
        wide found = 0;
        group[rank].download(&found, places[as_size(rank)] + 2 * g + number, sizeof found);
        return found;
    }
};

} // namespace

KRYLITH_GROUP_TEST("sections: what ranks use comes from the owners, sums go to them") {
    spread_aggregates s(group);
    const section_exchange sections(group, s.owners, s.used);
    const std::span<wide* const> places(s.places);
    s.fill(group, [&](int rank, std::int64_t g, int number) {
        return s.owners.owned(rank).contains(g) ? static_cast<wide>(10 * g + number) : wide{7777};
    });
    sections.gather(places, 2);
    for (int rank = 0; rank < group.size(); ++rank) {
        const row_range here = s.used[as_size(rank)];
        CHECK(s.arrays[as_size(rank)].size() == as_size(2 * here.size()));
        for (std::int64_t g = here.begin; g < here.end; ++g)
            for (const int number : {0, 1})
                CHECK(s.at(group, rank, g, number) == static_cast<wide>(10 * g + number));
    }

    s.fill(group, [&](int, std::int64_t g, int number) { return static_cast<wide>(g + number); });
    sections.join<join_sum_step>(places, 2);
    for (int rank = 0; rank < group.size(); ++rank)
        for (std::int64_t g = s.owners.owned(rank).begin; g < s.owners.owned(rank).end; ++g) {
            const auto users = std::ranges::count_if(
                s.used, [g](const row_range& range) { return range.contains(g); });
            CHECK(s.at(group, rank, g, 1) == static_cast<wide>(users * (g + 1)));
        }
}

TEST_CASE("sections: the aggregates of a rank lie between those that it owns and uses") {
    CHECK(window_of({3, 8}, {1, 4}) == row_range{1, 8});
    CHECK(window_of({3, 8}, {10, 12}) == row_range{3, 12});
    CHECK(window_of({3, 8}, {}) == row_range{3, 8});
    CHECK(window_of({5, 5}, {1, 4}) == row_range{1, 4});
    CHECK(aggregate_array<double>().data() == nullptr);
}

} // namespace krylith::aggregation
