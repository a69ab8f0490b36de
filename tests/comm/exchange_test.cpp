// Items that ranks share: copies of what lies apart or side by side, and the way back.
#include <algorithm>
#include <string>
#include <vector>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/device/error.hpp>

#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

constexpr std::int64_t items_of_rank = 12;
const std::vector<std::int64_t> listed_places{100, 103, 104, 108};

/// Of the next rank each one uses four items that lie apart; of the one after that, five
/// neighbours.
std::vector<shared_items> ring(const communicator& comm) {
    std::vector<shared_items> all;
    for (int user = 0; user < comm.ranks(); ++user)
        for (const bool listed : {true, false}) {
            shared_items m;
            m.owner = (user + (listed ? 1 : 2)) % comm.ranks();
            m.user = user;
            if (m.owner == user) continue;
            m.count = listed ? 4 : 5;
            m.at_owner = listed ? 2 : 3;
            m.at_user = listed ? items_of_rank : items_of_rank + 4;
            m.is_listed = listed;
            m.list_first = 99;
            if (listed && comm.is_local(user))
                m.list = std::make_shared<const buffer<std::int64_t>>(
                    comm.handle(user), std::span<const std::int64_t>(listed_places), "test");
            all.push_back(std::move(m));
        }
    return all;
}

template <class V>
V ring_value(int rank, std::int64_t item, std::int64_t number) {
    return static_cast<V>(37 * rank + 3 * item + number);
}

/// The place at the owner of a copy that a user has, counted in items; below 0 where it has none.
std::int64_t place_at_owner(const shared_items& m, std::int64_t k) {
    return m.is_listed ? m.at_owner + listed_places[static_cast<std::size_t>(k)] - 99
                       : m.at_owner + k;
}

/// The first thing that is wrong, or nothing.
template <class V>
std::string wrong_copy(const communicator& comm, const exchange& shared, std::int64_t numbers,
                       bool in_place) {
    const auto items = static_cast<std::size_t>(items_of_rank + 9);
    const auto make = [&](bool filled) {
        return by_rank(comm, [&](int rank) {
            std::vector<V> values(items * static_cast<std::size_t>(numbers), V{1});
            for (std::int64_t i = 0; filled && i < items_of_rank * numbers; ++i)
                values[static_cast<std::size_t>(i)] = ring_value<V>(rank, i / numbers, i % numbers);
            return buffer<V>(comm.handle(rank), std::span<const V>(values), "test");
        });
    };
    const auto owned = make(true);
    const auto copies = make(false);
    if (in_place)
        shared.fetch(owned, numbers);
    else
        shared.fetch(pointers_of(owned), pointers_of(copies), numbers);
    for (const int rank : comm.local()) {
        const auto found = (in_place ? owned : copies)[static_cast<std::size_t>(rank)].download();
        for (const shared_items& m : shared.items())
            for (std::int64_t i = 0; m.user == rank && i < m.count * numbers; ++i)
                if (found[static_cast<std::size_t>(m.at_user * numbers + i)] !=
                    ring_value<V>(m.owner, place_at_owner(m, i / numbers), i % numbers))
                    return "item " + std::to_string(i) + " of rank " + std::to_string(m.owner) +
                           " on rank " + std::to_string(rank);
    }
    return {};
}

std::string wrong_ring(const communicator& comm) {
    for (const auto where : {exchange::lists::where_used, exchange::lists::at_owners}) {
        const exchange shared(comm, ring(comm), where);
        for (const bool in_place : {false, true})
            for (const std::int64_t numbers : {1, 3})
                for (const std::string& wrong :
                     {wrong_copy<std::uint8_t>(comm, shared, numbers, in_place),
                      wrong_copy<float>(comm, shared, numbers, in_place),
                      wrong_copy<double>(comm, shared, numbers, in_place)})
                    if (!wrong.empty()) return wrong;
        if (where == exchange::lists::where_used) continue;
        for (const shared_items& m : shared.items())
            if (m.is_listed && comm.is_local(m.owner) &&
                (m.list == nullptr || m.list->download() != listed_places || m.list_begin != 0))
                return "list at the owner";
    }
    return {};
}

std::string wrong_inverse(const communicator& comm) {
    std::vector<shared_items> apart;
    for (const shared_items& m : ring(comm))
        if (!m.is_listed) apart.push_back(m);
    const exchange shared(comm, apart);
    const auto arrays = by_rank(comm, [&](int rank) {
        const std::vector<double> values(static_cast<std::size_t>(items_of_rank + 9), 100.0 + rank);
        return buffer<double>(comm.handle(rank), std::span<const double>(values), "test");
    });
    shared.inverse().fetch(arrays);
    for (const int rank : comm.local()) {
        const auto found = arrays[static_cast<std::size_t>(rank)].download();
        for (const shared_items& m : shared.items())
            for (std::int64_t k = 0; m.owner == rank && k < m.count; ++k)
                if (found[static_cast<std::size_t>(m.at_owner + k)] != 100.0 + m.user)
                    return "item " + std::to_string(k) + " on rank " + std::to_string(rank);
    }
    return {};
}

/// The last rank gathers 0 to 2 items of each rank, two numbers each, and gives them back.
std::string wrong_gather(const communicator& comm) {
    const int to = comm.ranks() - 1;
    std::vector<std::int64_t> begin{0};
    for (int rank = 0; rank < comm.ranks(); ++rank) begin.push_back(begin.back() + rank % 3);
    const auto arrays = [&](double first) {
        return by_rank(comm, [&](int rank) {
            const std::vector<double> values(4, first + rank);
            return buffer<double>(comm.handle(rank), std::span<const double>(values), "test");
        });
    };
    const auto given = arrays(1);
    const auto back = arrays(100);
    const auto size = static_cast<std::size_t>(2 * begin.back());
    buffer<double> all;
    if (comm.is_local(to)) all = {comm.handle(to), size, "test"};
    const exchange gather = gather_to(to, comm, begin);
    gather.fetch(pointers_of(given), only_on(comm, to, all.data()), 2);
    gather.inverse().fetch(only_on(comm, to, all.data()), pointers_of(back), 2);
    std::vector<double> expected;
    for (int rank = 0; rank < comm.ranks(); ++rank)
        expected.insert(expected.end(), static_cast<std::size_t>(2 * (rank % 3)), 1.0 + rank);
    if (comm.is_local(to) && all.download() != expected) return "gathered";
    for (const int rank : comm.local()) {
        std::vector<double> own(4, 100.0 + rank);
        std::fill_n(own.begin(), 2 * (rank % 3), 1.0 + rank);
        if (back[static_cast<std::size_t>(rank)].download() != own)
            return "given back to rank " + std::to_string(rank);
    }
    return {};
}

} // namespace

KRYLITH_GROUP_TEST("exchange: users get items of owners, of any width, apart or side by side") {
    CHECK(wrong_ring(group).empty());
    CHECK(wrong_inverse(group).empty());
    CHECK(wrong_gather(group).empty());
}

KRYLITH_DRIVERS_TEST("exchange: ranks of several drivers share items") {
    for (const bool staged : {false, true}) {
        const auto dealt = testing::dealt_group::of(kind, {2, 1, 1}, {.staged = staged});
        std::vector<std::string> wrong(static_cast<std::size_t>(dealt.whole.size()));
        testing::expect_none(testing::with_drivers(dealt.parts, [&](const communicator& comm) {
            std::string& of_driver = wrong[static_cast<std::size_t>(comm.first_local())];
            of_driver = wrong_ring(comm) + wrong_inverse(comm) + wrong_gather(comm);
        }));
        for (const std::string& what : wrong) CHECK(what == "");
    }
}

TEST_CASE("exchange: an empty one moves nothing, and counts of arrays are checked") {
    const std::vector<buffer<double>> none;
    exchange().fetch(none);
    const communicator comm = device_group::host(2);
    const exchange shared(comm, ring(comm));
    CHECK_THROWS_AS(shared.fetch(none), usage_error);
}

} // namespace krylith
