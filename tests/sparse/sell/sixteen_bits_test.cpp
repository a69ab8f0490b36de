// Numbers of 16 bits: all of them, what lies between two neighbours, and what is out of range.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/sell/sixteen_bits.hpp>

namespace krylith {

namespace {

/// All numbers of fp16 that are not negative, ascending, times 2^-12.
std::vector<float> all_numbers() {
    std::vector<float> all;
    for (int mantissa = 0; mantissa < 1024; ++mantissa)
        all.push_back(std::ldexp(static_cast<float>(mantissa), -24 - 12));
    for (int exponent = 1; exponent < 31; ++exponent)
        for (int mantissa = 0; mantissa < 1024; ++mantissa)
            all.push_back(std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25 - 12));
    return all;
}

bool becomes(float value, float expected) {
    return std::bit_cast<std::uint32_t>(rounded_to_sixteen_bits(value)) ==
               std::bit_cast<std::uint32_t>(expected) &&
           std::bit_cast<std::uint32_t>(rounded_to_sixteen_bits(-value)) ==
               std::bit_cast<std::uint32_t>(-expected);
}

} // namespace

TEST_CASE("numbers of 16 bits: each stays, and others become the nearest, of two the even one") {
    const std::vector<float> all = all_numbers();
    REQUIRE(all.size() == 31744);
    CHECK(all.back() == most_in_sixteen_bits);
    CHECK(all[1024] == least_of_eleven_bits);
    int wrong = 0;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        const float low = all[i];
        const float high = all[i + 1];
        const float middle = low + (high - low) / 2; // exact
        wrong += becomes(low, low) ? 0 : 1;
        wrong += becomes(middle, i % 2 == 0 ? low : high) ? 0 : 1;
        wrong += becomes(std::nextafter(middle, 0.0f), low) ? 0 : 1;
        wrong += becomes(std::nextafter(middle, 100.0f), high) ? 0 : 1;
        wrong += becomes(low + (high - low) / 4, low) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("numbers of 16 bits: what is larger than all of them stays, and what is no number") {
    CHECK(becomes(most_in_sixteen_bits, most_in_sixteen_bits));
    for (const float value :
         {std::nextafter(most_in_sixteen_bits, 100.0f), 15.999f, 1000.1f,
          std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()})
        CHECK(becomes(value, value));
    CHECK(std::isnan(rounded_to_sixteen_bits(NAN)));
    CHECK(becomes(std::numeric_limits<float>::denorm_min(), 0.0f));
    CHECK(becomes(0.0f, 0.0f));
}

} // namespace krylith
