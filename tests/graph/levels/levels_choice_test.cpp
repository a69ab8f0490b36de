// The choice between launches of many levels and products.
#include <krylith/graph/levels/levels_choice.hpp>

#include <limits>

#include <doctest/doctest.h>

namespace krylith {

TEST_CASE("levels choice: small levels, and in a launch those of twice the limit") {
    levels_choice choice(100);
    CHECK(choice.most_frontier_nonzeros() == 200);
    CHECK(choice.launches(1, 100));
    choice.launched(5, false); // the launch's log was full
    CHECK(choice.launches(1, 200));
    choice.launched(5, false);
    CHECK_FALSE(choice.launches(1, 201));
    choice.multiplied();
    CHECK_FALSE(choice.launches(1, 101));
    choice.multiplied();
    CHECK(choice.launches(100, 3));
    CHECK_FALSE(choice.launches(101, 3)); // frontiers have room for as many vertices as edges
}

TEST_CASE(
    "levels choice: a vertex that is too wide is a product's, and launches in vain get rare") {
    levels_choice choice(100);
    const auto products_first = [&] {
        int count = 0;
        for (; !choice.launches(1, 1); ++count) choice.multiplied();
        return count;
    };
    choice.launched(3, true);
    CHECK(products_first() == 1);
    choice.launched(0, true);
    CHECK(products_first() == 1);
    for (const int expected : {3, 7, 15, 16, 16}) {
        choice.launched(0, true);
        CHECK(products_first() == expected);
    }
    choice.launched(1, true);
    CHECK(products_first() == 1);
    choice.launched(1, false);
    CHECK(products_first() == 0);
}

TEST_CASE("levels choice: a limit of 0 never launches, the greatest always does") {
    levels_choice never(0);
    CHECK_FALSE(never.launches(0, 0));
    CHECK_FALSE(levels_choice().launches(1, 0));
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    levels_choice always(most);
    CHECK(always.most_frontier_nonzeros() == most);
    CHECK(always.launches(1 << 30, most));
}

} // namespace krylith
