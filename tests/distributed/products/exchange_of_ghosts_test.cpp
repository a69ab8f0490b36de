// The exchange of ghosts of local columns while matrices are made.
#include <krylith/distributed/products/exchange_of_ghosts.hpp>

#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>

#include <krylith/tests/distributed/products/split_rows.hpp>
#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>
#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

/// A value of each column that differs from those of others, and between rounds.
template <class V>
V value_of(std::int64_t column, int round) {
    return static_cast<V>(column * 7 + round);
}

template <class V>
void check_fill(const distributed_csr<double>& a, const exchange& ghosts, int round,
                bool in_turn = false) {
    std::vector<buffer<V>> arrays;
    std::vector<V*> pointers;
    std::vector<std::vector<V>> expected;
    for (int rank = 0; rank < a.comm().ranks(); ++rank) {
        const local_columns& mine = a.columns_of(rank);
        std::vector<V> given(static_cast<std::size_t>(mine.count()), V{1});
        std::vector<V> whole(given.size());
        bool inverse = true; // local() of global(), everywhere
        for (std::size_t k = 0; k < whole.size(); ++k) {
            column_numbers numbers = mine.numbers();
            numbers.ghosts = mine.ghosts().data(); // the list on the host
            const auto local = static_cast<std::int32_t>(k);
            whole[k] = value_of<V>(numbers.global(local), round);
            if (numbers.owns(local)) given[k] = whole[k];
            inverse = inverse && numbers.local(numbers.global(local)) == local;
        }
        CHECK(inverse);
        arrays.emplace_back(a.comm().handle(rank), std::span<const V>(given), "test");
        pointers.push_back(arrays.back().data());
        expected.push_back(std::move(whole));
    }
    if (in_turn)
        ghosts.fetch_in_turn(pointers);
    else
        ghosts.fetch(arrays);
    for (std::size_t rank = 0; rank < arrays.size(); ++rank)
        CHECK(arrays[rank].download() == expected[rank]);
}

} // namespace

KRYLITH_GROUP_TEST("exchange of ghosts: ghosts get the values of their owners, of every type") {
    for (const auto& c : testing::spgemm_cases()) {
        CAPTURE(c.surfaces);
        const auto a = testing::split(group, c.a);
        std::vector<local_columns> columns;
        for (int rank = 0; rank < group.size(); ++rank) columns.push_back(a.columns_of(rank));
        const exchange ghosts = exchange_of_ghosts(group, columns);
        if (group.size() == 1) CHECK(ghosts.items().empty());
        for (int round = 0; round < 2; ++round) {
            check_fill<std::uint64_t>(a, ghosts, round);
            check_fill<std::int32_t>(a, ghosts, round);
            check_fill<std::uint8_t>(a, ghosts, round);
            check_fill<float>(a, ghosts, round);
            check_fill<double>(a, ghosts, round);
            check_fill<std::int32_t>(a, ghosts, round, true);
            check_fill<float>(a, ghosts, round, true);
            check_fill<double>(a, ghosts, round, true);
        }
    }
}

KRYLITH_GROUP_TEST("exchange of ghosts: another number of arrays than ranks is refused") {
    const auto a = testing::split(group, testing::spgemm_cases().back().a);
    std::vector<local_columns> columns;
    for (int rank = 0; rank < group.size(); ++rank) columns.push_back(a.columns_of(rank));
    const exchange ghosts = exchange_of_ghosts(group, columns);
    CHECK_THROWS_AS(ghosts.fetch(std::vector<double*>()), usage_error);
}

} // namespace krylith
