// Numbers of aggregates on ranks that have memory for those that they own or use.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregate_array.hpp>
#include <krylith/precond/coarsening/exchange_of_aggregates.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>

#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith::aggregation {

namespace {

/// 40 aggregates, of which each rank uses two before and three behind its own.
struct spread_aggregates {
    row_partition owners;
    std::vector<row_range> used;
    std::vector<aggregate_array<wide>> arrays; ///< two numbers each
    std::vector<wide*> places;

    explicit spread_aggregates(const communicator& comm) : owners(equal_rows(40, comm.ranks())) {
        for (int rank = 0; rank < comm.ranks(); ++rank) {
            const row_range own = owners.owned(rank);
            used.push_back({std::max<std::int64_t>(own.begin - 2, 0),
                            std::min<std::int64_t>(own.end + 3, 40)});
        }
        arrays = by_rank(comm, [&](int rank) {
            return aggregate_array<wide>(
                comm.handle(rank), window_of(owners.owned(rank), used[as_size(rank)]), 2, "test");
        });
        for (const auto& array : arrays) places.push_back(array.data());
    }
    /// Writes value(rank, aggregate, number) wherever a rank has memory.
    template <class Value>
    void fill(const communicator& comm, const Value& value) {
        for (const int rank : comm.local()) {
            const row_range here = used[as_size(rank)];
            std::vector<wide> all;
            for (std::int64_t g = here.begin; g < here.end; ++g)
                for (const int number : {0, 1}) all.push_back(value(rank, g, number));
            comm[rank].upload(places[as_size(rank)] + 2 * here.begin, all.data(),
                              all.size() * sizeof(wide));
        }
    }
    [[nodiscard]] wide at(const communicator& comm, int rank, std::int64_t g, int number) const {
        wide found = 0;
        comm[rank].download(&found, places[as_size(rank)] + 2 * g + number, sizeof found);
        return found;
    }
};

/// The first thing that is wrong, or nothing.
std::string wrong_aggregate(const communicator& comm) {
    spread_aggregates s(comm);
    std::vector<row_range> used = s.used; // each driver says what its own ranks use
    for (int rank = 0; rank < comm.ranks(); ++rank)
        if (!comm.is_local(rank)) used[as_size(rank)] = {};
    const exchange shared = exchange_of_aggregates(comm, s.owners, used);
    s.fill(comm, [&](int rank, std::int64_t g, int number) {
        return s.owners.owned(rank).contains(g) ? static_cast<wide>(10 * g + number) : wide{7777};
    });
    shared.fetch(s.places, 2);
    const auto place = [](int rank, std::int64_t g) {
        return "aggregate " + std::to_string(g) + " on rank " + std::to_string(rank);
    };
    for (const int rank : comm.local()) {
        const row_range here = s.used[as_size(rank)];
        if (s.arrays[as_size(rank)].size() != as_size(2 * here.size())) return "memory";
        for (std::int64_t g = here.begin; g < here.end; ++g)
            for (const int number : {0, 1})
                if (s.at(comm, rank, g, number) != static_cast<wide>(10 * g + number))
                    return "gathered: " + place(rank, g);
    }

    s.fill(comm, [&](int, std::int64_t g, int number) { return static_cast<wide>(g + number); });
    shared.join<join_sum_step>(s.places, 2);
    for (const int rank : comm.local())
        for (std::int64_t g = s.owners.owned(rank).begin; g < s.owners.owned(rank).end; ++g) {
            const auto users = std::ranges::count_if(
                s.used, [g](const row_range& range) { return range.contains(g); });
            if (s.at(comm, rank, g, 1) != static_cast<wide>(users * (g + 1)))
                return "joined: " + place(rank, g);
        }
    return {};
}

} // namespace

KRYLITH_GROUP_TEST(
    "exchange of aggregates: what ranks use comes from the owners, sums go to them") {
    CHECK(wrong_aggregate(group).empty());
}

TEST_CASE("exchange of aggregates: ranks of two drivers exchange them") {
    for (const bool staged : {false, true}) {
        const auto group = [&](int devices) {
            return device_group::host(devices, {.staged = staged, .host_threads = devices});
        };
        std::vector<std::string> wrong(2);
        testing::expect_none(
            testing::with_drivers({group(2), group(3)}, [&](const communicator& comm) {
                wrong[comm.is_local(0) ? 0 : 1] = wrong_aggregate(comm);
            }));
        for (const std::string& what : wrong) CHECK(what.empty());
    }
}

TEST_CASE(
    "exchange of aggregates: the aggregates of a rank lie between those that it owns and uses") {
    CHECK(window_of({3, 8}, {1, 4}) == row_range{1, 8});
    CHECK(window_of({3, 8}, {10, 12}) == row_range{3, 12});
    CHECK(window_of({3, 8}, {}) == row_range{3, 8});
    CHECK(window_of({5, 5}, {1, 4}) == row_range{1, 4});
    CHECK(aggregate_array<double>().data() == nullptr);
}

} // namespace krylith::aggregation
