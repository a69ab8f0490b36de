#include <krylith/device/messages/nearest_name.hpp>

#include <array>
#include <string_view>

#include <doctest/doctest.h>

using krylith::edit_distance;
using krylith::name_advice;
using krylith::name_alias;
using krylith::nearest_name;

TEST_CASE("the edit distance counts insertions, removals, replacements and swaps") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("cg", "") == 2);
    CHECK(edit_distance("", "gmres") == 5);
    CHECK(edit_distance("gmres", "gmres") == 0);
    CHECK(edit_distance("gmers", "gmres") == 1);
    CHECK(edit_distance("hots", "host") == 1);
    CHECK(edit_distance("ab", "ba") == 1);
    CHECK(edit_distance("ca", "abc") == 3); // a swapped pair is not edited again
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("sitting", "kitten") == 3);
}

TEST_CASE("the nearest name wins, the first of equals") {
    constexpr std::array<std::string_view, 3> names{"bicgstab", "cg", "gmres"};
    CHECK(nearest_name("gmress", names) == "gmres");
    CHECK(nearest_name("bicstab", names) == "bicgstab");
    CHECK(nearest_name("cgs", names) == "cg");
    constexpr std::array<std::string_view, 2> equals{"abx", "acx"};
    CHECK(nearest_name("adx", equals) == "abx");
    CHECK(nearest_name("x", {}) == "");
}

TEST_CASE("no name is near beyond a third of the characters given") {
    constexpr std::array<std::string_view, 3> names{"none", "jacobi", "cg"};
    CHECK(nearest_name("ilu", names) == "");
    CHECK(nearest_name("amg", names) == "");
    CHECK(nearest_name("jakoby", names) == "jacobi"); // 2 of 6
    CHECK(nearest_name("jakoy", names) == "");        // 3 of 5
    CHECK(nearest_name("xg", names) == "");
    CHECK(nearest_name("", names) == "");
}

TEST_CASE("capitals, hyphens and underscores don't count, and a beginning will do") {
    constexpr std::array<std::string_view, 6> names{
        "--x0", "--max-iterations", "--restart", "--reorder", "GMRES", "gmres:cgs2"};
    CHECK(nearest_name("gmres", names) == "GMRES");
    CHECK(nearest_name("Gmres:CGS2", names) == "gmres:cgs2");
    CHECK(nearest_name("gmres:", names) == "gmres:cgs2");
    CHECK(nearest_name("--max_iterations", names) == "--max-iterations");
    CHECK(nearest_name("--MaxIter", names) == "--max-iterations");
    CHECK(nearest_name("--max", names) == "--max-iterations");
    CHECK(nearest_name("--re", names) == "--restart"); // the first of the shortest
    CHECK(nearest_name("--r", names) == "");           // it says too little
}

TEST_CASE("an alias counts where its name is valid, the first of them") {
    constexpr std::array<std::string_view, 2> names{"jacobi", "report"};
    constexpr std::array<name_alias, 3> aliases{
        {{"diagonal", "jacobi"}, {"out", "solution"}, {"out", "report"}}};
    CHECK(nearest_name("Diagonal", names, aliases) == "jacobi");
    CHECK(nearest_name("out", names, aliases) == "report");
    CHECK(nearest_name("diagonal", names) == "");
}

TEST_CASE("the advice lists what is valid, with or without a near name") {
    constexpr std::array<std::string_view, 2> names{"none", "jacobi"};
    CHECK(name_advice("jakobi", names) == ": did you mean 'jacobi'? Valid are none jacobi");
    CHECK(name_advice("ilu", names) == ": valid are none jacobi");
}
