// The lengths of rows that `krylith bench sparse --kernels lengths` compares.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/sparse/lengths_lines.hpp>

namespace krylith::bench {

TEST_CASE("row lengths: both kinds have all nonzeros, equal ones differ by one, Zipf's halve") {
    for (const std::int64_t rows : {1, 2, 7, 1000, 20'000})
        for (const std::int64_t nonzeros : {0, 1, 5, 1000, 160'003}) {
            CAPTURE(rows);
            CAPTURE(nonzeros);
            for (const auto& offsets :
                 {equal_offsets(rows, nonzeros), zipf_offsets(rows, nonzeros)}) {
                REQUIRE(offsets.size() == static_cast<std::size_t>(rows) + 1);
                CHECK(offsets.front() == 0);
                CHECK(offsets.back() == nonzeros);
                CHECK(std::ranges::is_sorted(offsets));
            }
            const auto equal = equal_offsets(rows, nonzeros);
            for (std::size_t row = 0; row + 1 < equal.size(); ++row)
                CHECK(equal[row + 1] - equal[row] - nonzeros / rows <= 1);
        }
    const auto offsets = zipf_offsets(20'000, 160'000);
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        lengths.push_back(offsets[row + 1] - offsets[row]);
    std::ranges::sort(lengths, std::greater());
    CHECK(lengths[0] > 14'000); // 160,000 / (ln 20,000 + 0.58) = 15,266
    CHECK(lengths[0] == doctest::Approx(2.0 * static_cast<double>(lengths[1])).epsilon(0.01));
    CHECK(lengths[9] == doctest::Approx(0.1 * static_cast<double>(lengths[0])).epsilon(0.01));
}

} // namespace krylith::bench
