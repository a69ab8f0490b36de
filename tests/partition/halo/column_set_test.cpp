#include <krylith/partition/halo/column_set.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <set>
#include <thread>

using krylith::column_set;

TEST_CASE("column_set: members, ranks and absence against std::set") {
    // The sizes are around the 64 columns of a word; the start is no multiple of it.
    for (const std::int64_t size : {1, 63, 64, 65, 128, 1000}) {
        const std::int64_t begin = 37;
        std::mt19937 generator(static_cast<unsigned>(size));
        std::uniform_int_distribution<std::int64_t> columns(begin, begin + size - 1);
        std::set<std::int64_t> expected{begin, begin + size - 1};
        for (std::int64_t k = 0; k < size / 3; ++k) {
            expected.insert(columns(generator));
        }
        column_set set(begin, begin + size);
        for (const std::int64_t column : expected) {
            set.insert(column);
            set.insert(column);
        }
        set.seal();
        CAPTURE(size);
        CHECK(set.size() == static_cast<std::int64_t>(expected.size()));
        CHECK(set.members() == std::vector<std::int64_t>(expected.begin(), expected.end()));
        std::int64_t below = 0;
        for (std::int64_t column = begin; column < begin + size; ++column) {
            CHECK(set.rank(column) == below);
            CHECK(set.contains(column) == expected.contains(column));
            below += expected.contains(column) ? 1 : 0;
        }
        CHECK_FALSE(set.contains(begin - 1));
        CHECK_FALSE(set.contains(begin + size));
        CHECK_FALSE(set.contains(-1));
    }
}

TEST_CASE("column_set: empty ranges and empty sets") {
    column_set nothing(5, 5);
    nothing.seal();
    CHECK(nothing.size() == 0);
    CHECK(nothing.members().empty());
    CHECK_FALSE(nothing.contains(5));
    column_set unfilled(0, 100);
    unfilled.seal();
    CHECK(unfilled.members().empty());
    CHECK(unfilled.rank(99) == 0);
}

TEST_CASE("column_set: threads insert neighbours at once and lose none") {
    const std::int64_t size = 300000; // enough words for members() to run in parallel
    column_set set(0, size);
    std::vector<std::thread> threads;
    for (std::int64_t first = 0; first < 4; ++first) {
        threads.emplace_back([&set, first] {
            for (std::int64_t column = first; column < size; column += 3) {
                set.insert(column); // threads 0 and 3 insert nearly the same
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    set.seal();
    REQUIRE(set.size() == size);
    const auto members = set.members();
    bool ascending = true;
    for (std::int64_t column = 0; column < size; ++column) {
        ascending = ascending && members[static_cast<std::size_t>(column)] == column;
    }
    CHECK(ascending);
}
