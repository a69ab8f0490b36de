// The division of rows among threads.
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/sparse/spgemm/row_shares.hpp>

namespace krylith::host {

TEST_CASE("row shares: every row has one thread, whatever the rows") {
    for (const auto& before : std::vector<std::vector<std::int64_t>>{
             {0}, {0, 0}, {0, 5}, {0, 0, 0, 100}, {0, 100, 100, 100}, {0, 1, 2, 3, 4, 5, 6}})
        for (const int parts : {1, 2, 3, 7}) {
            const auto first = equal_products(before, parts);
            REQUIRE(first.size() == static_cast<std::size_t>(parts) + 1);
            CHECK(first.front() == 0);
            CHECK(first.back() == static_cast<std::int64_t>(before.size()) - 1);
            for (int p = 0; p < parts; ++p)
                CHECK(first[static_cast<std::size_t>(p)] <= first[static_cast<std::size_t>(p) + 1]);
        }
}

TEST_CASE("row shares: equal products") {
    std::vector<std::int64_t> before{0};
    for (int i = 0; i < 1000; ++i) before.push_back(before.back() + (i < 100 ? 90 : 10));
    const auto first = equal_products(before, 2);
    // 100 rows of 91 and 900 of 11: half of 19000 is reached behind 9500 = 100 * 91 + 36 * 11.
    CHECK(first[1] >= 135);
    CHECK(first[1] <= 138);
}

TEST_CASE("row shares: numbers beyond 32 bits") {
    const std::int64_t many = std::int64_t{1} << 61;
    const auto first = equal_products(std::vector<std::int64_t>{0, many, 2 * many, 3 * many}, 3);
    CHECK(first == std::vector<std::int64_t>{0, 1, 2, 3});
}

} // namespace krylith::host
