#include <algorithm>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/files/available_memory.hpp>

TEST_CASE("bytes in words") {
    CHECK(krylith::bytes_in_words(0) == "0 bytes");
    CHECK(krylith::bytes_in_words(999) == "999 bytes");
    CHECK(krylith::bytes_in_words(1000) == "1 kB");
    CHECK(krylith::bytes_in_words(17.18e9) == "17.2 GB");
    CHECK(krylith::bytes_in_words(5e22) == "5e+04 EB");
}

TEST_CASE("some memory is available, but not every amount") {
    CHECK(krylith::available_memory() > 1'000'000);
    CHECK(krylith::available_memory() < 1'000'000'000'000'000'000);
}

TEST_CASE("a vector resized in parallel is as one resized otherwise") {
    for (const std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{3'000'001}}) {
        CAPTURE(n);
        std::vector<double> vector;
        krylith::resize_in_parallel(vector, n);
        CHECK(vector.size() == n);
        CHECK(std::ranges::all_of(vector, [](double x) { return x == 0; }));
    }
}
