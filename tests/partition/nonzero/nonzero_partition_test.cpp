// Cuts of entries, and their order by NUMA nodes.
#include <krylith/partition/nonzero/nonzero_partition.hpp>

#include <limits>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/partition/nonzero/numa_partition.hpp>

namespace krylith::partition_tests {

namespace {

using sizes = std::vector<std::int64_t>;
constexpr std::int64_t most_entries = std::numeric_limits<std::int64_t>::max();

} // namespace

TEST_CASE("entry partition: floor(k entries / parts), though the product may overflow") {
    CHECK(equal_entries(10, 4).begin == sizes{0, 2, 5, 7, 10});
    CHECK(equal_entries(2, 4).begin == sizes{0, 0, 1, 1, 2});
    CHECK(equal_entries(0, 2).begin == sizes{0, 0, 0});
    for (const int parts : {1, 3, 8, 1000}) {
        const auto cut = equal_entries(most_entries, parts);
        CHECK_NOTHROW(check(cut, most_entries));
        for (int k = 0; k < parts; ++k) {
            const auto at = static_cast<std::size_t>(k);
            const std::int64_t size = cut.begin[at + 1] - cut.begin[at];
            CHECK(size >= most_entries / parts);
            CHECK(size - 1 <= most_entries / parts);
        }
    }
}

TEST_CASE("entry partition: what is refused") {
    CHECK_THROWS_WITH_AS((void)equal_entries(-1, 2),
                         "equal_entries: entries is -1, must be 0 or more", usage_error);
    CHECK_THROWS_WITH_AS((void)equal_entries(1, 0), "equal_entries: parts is 0, must be 1 or more",
                         usage_error);
    CHECK_THROWS_WITH_AS(
        check(nonzero_partition{{0}}, 0),
        "nonzero_partition: begin has 1 numbers, must have parts + 1 with at least "
        "1 part",
        usage_error);
    CHECK_THROWS_WITH_AS(check(nonzero_partition{{1, 2}}, 2),
                         "nonzero_partition: begin[0] is 1, must be 0", usage_error);
    CHECK_THROWS_WITH_AS(check(nonzero_partition{{0, 3, 2}}, 2),
                         "nonzero_partition: begin[2] is 2, must not be below begin[1], which is 3",
                         usage_error);
    CHECK_THROWS_WITH_AS(check(nonzero_partition{{0, 2}}, 3),
                         "nonzero_partition: begin[1] is 2, must be the number of entries, 3",
                         usage_error);
}

TEST_CASE("numa partition: two nodes with one, two, one and three devices, and interleaved") {
    struct {
        std::vector<int> nodes;
        std::vector<int> device;
    } const cases[]{{{0, 1}, {0, 1}},
                    {{0, 0, 1, 1}, {0, 1, 2, 3}},
                    {{0, 1, 1, 1}, {0, 1, 2, 3}},
                    {{1, 0, 0, 0}, {0, 1, 2, 3}},
                    {{0, 1, 0, 1}, {0, 2, 1, 3}},
                    {{1, 0, 1, 0, 1}, {0, 2, 4, 1, 3}},
                    {{2, 0, 1, 0, 2}, {0, 4, 1, 3, 2}}};
    for (const auto& c : cases)
        for (const std::int64_t entries : {0, 1, 3, 10, 1001}) {
            const auto devices = static_cast<int>(c.nodes.size());
            const auto found = make_numa_partition(entries, c.nodes);
            CHECK(found.device == c.device);
            CHECK(found.entries == equal_entries(entries, devices));
            CHECK_NOTHROW(check(found, c.nodes, entries));
        }
}

TEST_CASE("numa partition: one node is the plain partition") {
    for (int devices = 1; devices <= 8; ++devices) {
        std::vector<int> ranks(static_cast<std::size_t>(devices));
        std::iota(ranks.begin(), ranks.end(), 0);
        const std::vector<int> nodes(ranks.size(), 0);
        CHECK(make_numa_partition(777, nodes) ==
              numa_partition{ranks, equal_entries(777, devices)});
    }
}

TEST_CASE("numa partition: what is refused") {
    const std::vector<int> nodes{0, 1, 0};
    CHECK_THROWS_AS((void)make_numa_partition(5, {}), usage_error);
    CHECK_THROWS_WITH_AS((void)make_numa_partition(5, std::vector{0, -1}),
                         "numa_partition: node_of_device[1] is -1, must be 0 or more", usage_error);
    CHECK_THROWS_AS((void)make_numa_partition(-5, nodes), usage_error);
    const numa_partition good = make_numa_partition(6, nodes);
    const auto says = [&](std::vector<int> device, const char* message) {
        const numa_partition bad{std::move(device), good.entries};
        CHECK_THROWS_WITH_AS(check(bad, nodes, 6), message, usage_error);
    };
    says({0, 2}, "numa_partition: it is of 2 devices, must be of 3");
    says({0, 3, 1}, "numa_partition: device[1] is 3, must be 0 or more and below 3");
    says({0, 2, 2}, "numa_partition: device[2] is 2, as device[1] is");
    says({0, 1, 2}, "numa_partition: device[2] is 2 of node 0, whose devices must stand together");
    CHECK_THROWS_AS(check(good, nodes, 7), usage_error);
    CHECK_THROWS_WITH_AS(check(numa_partition{good.device, equal_entries(6, 2)}, nodes, 6),
                         "numa_partition: entries has 2 parts for 3 devices", usage_error);
}

} // namespace krylith::partition_tests
