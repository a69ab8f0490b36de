// The literals of a .npy header.
#include <cstdint>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/numpy/python_literal.hpp>

using krylith::numpy::literal_reader;

TEST_CASE("literals: strings, bools and tuples of sizes") {
    literal_reader text(" 'descr' : \"<f8\" True, False (3, 4L) (5,) () }");
    CHECK(text.take_string() == std::string_view("descr"));
    CHECK(text.take(":"));
    CHECK(text.take_string() == std::string_view("<f8"));
    CHECK(text.take_bool() == true);
    CHECK(text.take(","));
    CHECK(text.take_bool() == false);
    CHECK(text.take_sizes() == std::vector<std::uint64_t>{3, 4});
    CHECK(text.take_sizes() == std::vector<std::uint64_t>{5});
    CHECK(text.take_sizes() == std::vector<std::uint64_t>{});
    CHECK_FALSE(text.at_end());
    CHECK(text.take("}"));
    CHECK(text.at_end());
}

TEST_CASE("literals: what is none is nothing") {
    for (const std::string_view wrong :
         {"", "(", "(3", "(3, ", "(-3,)", "(3 4)", "(9223372036854775808,)", "[3]", "(1.5,)"})
        CHECK_FALSE(literal_reader(wrong).take_sizes().has_value());
    CHECK_FALSE(literal_reader("'open").take_string().has_value());
    CHECK_FALSE(literal_reader("true").take_bool().has_value());
}
