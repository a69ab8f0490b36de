// When levels are walked in one launch.
#include <krylith/graph/levels/levels_choice.hpp>

#include <limits>

#include <doctest/doctest.h>

namespace krylith {

TEST_CASE("walk choice: small levels, and when a walk is under way those of twice the limit") {
    walk_choice choice(100);
    CHECK(choice.most_work() == 200);
    CHECK(choice.walks(1, 100));
    choice.walked(5, false); // its log was full
    CHECK(choice.walks(1, 200));
    choice.walked(5, false);
    CHECK_FALSE(choice.walks(1, 201));
    choice.multiplied();
    CHECK_FALSE(choice.walks(1, 101));
    choice.multiplied();
    CHECK(choice.walks(100, 3));
    CHECK_FALSE(choice.walks(101, 3)); // there is room for as many vertices as edges
}

TEST_CASE("walk choice: a vertex that is too wide is a product's, and walks for nothing get rare") {
    walk_choice choice(100);
    const auto products_first = [&] {
        int count = 0;
        for (; !choice.walks(1, 1); ++count) choice.multiplied();
        return count;
    };
    choice.walked(3, true);
    CHECK(products_first() == 1);
    choice.walked(0, true);
    CHECK(products_first() == 1);
    for (const int expected : {3, 7, 15, 16, 16}) {
        choice.walked(0, true);
        CHECK(products_first() == expected);
    }
    choice.walked(1, true);
    CHECK(products_first() == 1);
    choice.walked(1, false);
    CHECK(products_first() == 0);
}

TEST_CASE("walk choice: a limit of 0 never walks, the greatest always does") {
    walk_choice never(0);
    CHECK_FALSE(never.walks(0, 0));
    CHECK_FALSE(walk_choice().walks(1, 0));
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    walk_choice always(most);
    CHECK(always.most_work() == most);
    CHECK(always.walks(1 << 30, most));
}

} // namespace krylith
