// Arithmetic that host and device share for kernels of sparse products, up to the ends of 32 bits.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/spmspv/kernels/kernel_arithmetic.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::spmspv {

namespace {

/// The first place where `holds` is no longer true, as a warp searches it; rounds are counted.
template <class Holds>
std::uint32_t found_by_lanes(std::uint32_t low, std::uint32_t high, const Holds& holds,
                             int& rounds) {
    lane_search search{low, high};
    for (rounds = 0; !search.done() && rounds < 100; ++rounds) {
        int passed = 0;
        for (int lane = 0; lane < 32; ++lane) {
            const std::uint32_t place = search.place(lane);
            if (place < search.high && holds(place)) ++passed;
        }
        search = search.after(passed);
    }
    return search.low;
}

template <int Lanes>
void check_rows_of_warp() {
    CAPTURE(Lanes);
    using assignment = rows_of_warp<Lanes>;
    std::set<int> seen;
    for (int step = 0; step < Lanes; ++step)
        for (int lane = 0; lane < 32; ++lane) {
            const int row = assignment::row(step, lane);
            CHECK((row >= 0 && row < 32));
            CHECK(assignment::step_of(row) == step);
            CHECK(assignment::lane_of(row) == lane / Lanes * Lanes);
            seen.insert(row);
        }
    CHECK(seen.size() == 32);
}

template <class T>
void check_lowered() {
    using limits = std::numeric_limits<T>;
    const std::vector<T> numbers = {-limits::infinity(),  limits::lowest(),      -2,      -1,
                                    -limits::min(),       -limits::denorm_min(), T(-0.0), T(0),
                                    limits::denorm_min(), limits::min(),         1,       2,
                                    limits::max(),        limits::infinity()};
    for (const T there : numbers)
        for (const T number : numbers) {
            CAPTURE(there);
            CAPTURE(number);
            CHECK(lowered(there, number) == std::min(there, number));
        }
}

} // namespace

TEST_CASE("kernel arithmetic: lanes that share a major index") {
    CHECK(lanes_a_major(0, 0) == 1);
    CHECK(lanes_a_major(10, 0) == 1);
    CHECK(lanes_a_major(10, 10) == 1);
    CHECK(lanes_a_major(10, 11) == 2);
    CHECK(lanes_a_major(1000, 5000) == 8);
    CHECK(lanes_a_major(1000, 16'000) == 16);
    CHECK(lanes_a_major(1000, 17'000) == 32);
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    CHECK(lanes_a_major(1, most) == 32);
    CHECK(lanes_a_major(most, most) == 1);
}

TEST_CASE("kernel arithmetic: groups of lanes sum up all 32 rows of a warp") {
    check_rows_of_warp<1>();
    check_rows_of_warp<2>();
    check_rows_of_warp<4>();
    check_rows_of_warp<8>();
    check_rows_of_warp<16>();
    check_rows_of_warp<32>();
}

TEST_CASE("kernel arithmetic: a search by 32 lanes finds every place, in 7 rounds at most") {
    int rounds = 0;
    for (std::uint32_t high = 0; high < 130; ++high)
        for (std::uint32_t answer = 0; answer <= high; ++answer) {
            CAPTURE(high);
            CHECK(found_by_lanes(
                      0, high, [&](std::uint32_t p) { return p < answer; }, rounds) == answer);
            CHECK(rounds <= 3);
        }
    testing::random_numbers random(91);
    const std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    for (int trial = 0; trial < 2000; ++trial) {
        const auto answer = trial == 0   ? most
                            : trial == 1 ? 0
                                         : static_cast<std::uint32_t>(random.below(
                                               std::numeric_limits<std::int32_t>::max()));
        CHECK(found_by_lanes(
                  0, most, [&](std::uint32_t p) { return p < answer; }, rounds) == answer);
        CHECK(rounds <= 7);
    }
}

TEST_CASE("kernel arithmetic: steps without branches count the ends that an item has passed") {
    testing::random_numbers random(92);
    for (const int count : {0, 1, 2, 3, 31, 32, 33, 1000, 1023, 1024}) {
        CAPTURE(count);
        std::vector<std::uint32_t> ends;
        std::uint32_t end = 0;
        for (int e = 0; e < count; ++e) // empty columns among them
            ends.push_back(end += static_cast<std::uint32_t>(random.below(3) * random.below(2)));
        for (std::uint32_t item = 0; item <= end + 1; ++item) {
            int found = 0;
            for (int stride = first_stride(count); stride > 0; stride /= 2)
                found = pass_ends(ends.data(), count, found, stride, item);
            CHECK(found == std::upper_bound(ends.begin(), ends.end(), item) - ends.begin());
        }
    }
}

TEST_CASE("kernel arithmetic: tiles of columns have every term once, whatever columns are") {
    testing::random_numbers random(93);
    const std::vector<std::vector<int>> cases = {
        {}, {0}, {1}, {1023}, {1024}, {5000}, std::vector<int>(3000, 0), {0, 0, 2000, 0, 1, 0, 0}};
    for (int c = -1; c < static_cast<int>(cases.size()); ++c) {
        CAPTURE(c);
        std::vector<int> lengths;
        if (c >= 0)
            lengths = cases[static_cast<std::size_t>(c)];
        else
            for (int e = 0; e < 3000; ++e)
                lengths.push_back(random.below(20) == 0 ? random.below(500) : random.below(3));
        std::vector<std::int32_t> ends;
        std::int32_t terms = 0;
        for (const int length : lengths) ends.push_back(terms += length);
        const auto count = static_cast<std::uint32_t>(lengths.size());
        const column_tiles path{count + static_cast<std::uint32_t>(terms)};
        std::uint32_t next = 0; // term
        std::uint32_t entry = 0;
        for (std::uint32_t tile = 0; tile < path.count(); ++tile) {
            const auto ended = [&](std::uint32_t items) {
                int rounds = 0;
                return found_by_lanes(
                    0, std::min(count, items),
                    [&](std::uint32_t e) { return ends_before(ends.data(), e, items); }, rounds);
            };
            const std::uint32_t begin = path.begin(tile);
            const std::uint32_t first = ended(begin);
            const std::uint32_t last = ended(begin + path.size(tile));
            CHECK(first == entry);
            CHECK(begin - first == next);
            CHECK(path.size(tile) <= column_tile_items);
            next = begin + path.size(tile) - last;
            entry = last;
            for (std::uint32_t e = first; e < last; ++e)
                CHECK(static_cast<std::uint32_t>(ends[e]) <= next);
            if (last < count) CHECK(static_cast<std::uint32_t>(ends[last]) >= next);
        }
        CHECK(next == static_cast<std::uint32_t>(terms));
        CHECK(entry == count);
    }
}

TEST_CASE("kernel arithmetic: tiles of as many terms as 32 bits have") {
    const std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    const column_tiles path{most + most};
    CHECK(path.count() == (1u << 22));
    CHECK(path.begin(path.count() - 1) == 0xfffffc00u);
    CHECK(path.size(path.count() - 1) == 1022);
    CHECK(path.begin(path.count() - 1) + path.size(path.count() - 1) == path.items);
    const auto last = static_cast<std::int32_t>(most);
    CHECK(ends_before(&last, 0, most + 1));
    CHECK_FALSE(ends_before(&last, 0, most));
}

TEST_CASE("kernel arithmetic: integer atomics keep the least of floating-point numbers") {
    check_lowered<double>();
    check_lowered<float>();
}

} // namespace krylith::spmspv
