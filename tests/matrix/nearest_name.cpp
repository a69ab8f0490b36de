#include <krylith/device/nearest_name.hpp>

#include <array>
#include <string_view>

#include <doctest/doctest.h>

TEST_CASE("the edit distance counts insertions, removals and replacements") {
    CHECK(krylith::edit_distance("", "") == 0);
    CHECK(krylith::edit_distance("cg", "") == 2);
    CHECK(krylith::edit_distance("", "gmres") == 5);
    CHECK(krylith::edit_distance("gmres", "gmres") == 0);
    CHECK(krylith::edit_distance("gmers", "gmres") == 2);
    CHECK(krylith::edit_distance("kitten", "sitting") == 3);
    CHECK(krylith::edit_distance("sitting", "kitten") == 3);
}

TEST_CASE("the nearest name wins, the first of equals") {
    constexpr std::array<std::string_view, 3> names{"bicgstab", "cg", "gmres"};
    CHECK(krylith::nearest_name("gmress", names) == "gmres");
    CHECK(krylith::nearest_name("bicstab", names) == "bicgstab");
    CHECK(krylith::nearest_name("cgs", names) == "cg");
    constexpr std::array<std::string_view, 2> equals{"ab", "ac"};
    CHECK(krylith::nearest_name("ad", equals) == "ab");
    CHECK(krylith::nearest_name("x", {}) == "");
}
