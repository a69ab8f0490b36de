// Device groups: those that can be made, those that are refused, and copies between devices.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

std::vector<int> numbers(int count, int first) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    return values;
}

} // namespace

TEST_CASE("groups: sizes out of range are refused") {
    CHECK_THROWS_WITH_AS((void)device_group::host(0), "a device group has 1 to 64 devices, not 0",
                         usage_error);
    CHECK_THROWS_AS((void)device_group::host(-1), usage_error);
    CHECK_THROWS_WITH_AS((void)device_group::host(max_ranks + 1),
                         "a device group has 1 to 64 devices, not 65", usage_error);
    CHECK_THROWS_AS((void)device_group::host(1, {.host_threads = -1}), usage_error);
    CHECK(device_group::host(max_ranks).size() == max_ranks);
}

TEST_CASE("groups: CUDA devices that are not there are refused") {
    const std::vector<int> absent{0, 12345};
    const std::vector<int> negative{-1};
    CHECK_THROWS_AS((void)device_group::cuda(absent), error);
    CHECK_THROWS_AS((void)device_group::cuda(negative), error);
    CHECK_THROWS_AS((void)device_group::cuda({}), error);
    CHECK(cuda_device_count() >= 0);
}

TEST_CASE("groups: the messages about CUDA devices name what is there [cuda]") {
    REQUIRE(cuda_device_count() > 0);
    const std::vector<int> absent{0, 12345};
    const std::string allowed = "0 to " + std::to_string(cuda_device_count() - 1);
    const std::string message = "CUDA device 12345 is not there: allowed are " + allowed;
    CHECK_THROWS_WITH_AS((void)device_group::cuda(absent), message.c_str(), usage_error);
    CHECK_THROWS_AS((void)device_group::cuda(std::vector<int>{}), usage_error);
    CHECK_THROWS_AS((void)device_group::cuda(std::vector<int>(max_gpus + 1, 0)), usage_error);
    void* const stream = nullptr;
    CHECK_THROWS_AS((void)device_group::cuda(std::vector<int>{0, 0}, {.streams = {stream}}),
                    usage_error);
}

TEST_CASE("groups: a device that stands twice makes a group eager, and says why [cuda]") {
    const auto twice = device_group::cuda(std::vector<int>{0, 0});
    CHECK(twice.size() == 2);
    CHECK_FALSE(twice.concurrent());
    CHECK(twice.serialised_because() == "one physical device stands for several");
    CHECK(device_group::cuda(std::vector<int>{0}).concurrent());
}

KRYLITH_GROUP_TEST("groups: ranks, paths and copies of the group agree") {
    const device_group same = group; // NOLINT: a copy on purpose
    CHECK(same == group);
    CHECK(group.concurrent() == group.serialised_because().empty());
    for (int i = 0; i < group.size(); ++i) {
        CHECK(&same[i] == &group[i]);
        CHECK(group[i].kind() == group.kind());
        CHECK_FALSE(group[i].description().empty());
        CHECK(group[i].free_bytes() > 0);
        CHECK(group.path(i, i) == peer_path::direct);
        for (int j = 0; j < group.size(); ++j) {
            if (i != j) CHECK(&group[i] != &group[j]);
            if (group.concurrent()) CHECK(group.path(i, j) == peer_path::direct);
        }
    }
    CHECK_THROWS((void)group[group.size()]);
}

TEST_CASE("groups: staged host copies are asked for, and said") {
    const auto staged = device_group::host(2, {.staged = true});
    CHECK(staged.path(0, 1) == peer_path::staged);
    CHECK(staged.path(1, 0) == peer_path::staged);
    CHECK_FALSE(staged.concurrent());
    CHECK(staged.serialised_because() == "staged copies were asked for");
    CHECK(device_group::host(1, {.staged = true}).concurrent());
    CHECK_FALSE(staged == device_group::host(2, {.staged = true}));
}

TEST_CASE("groups: what is available is GPUs, or else as many slices of the CPU") {
    const int gpus = cuda_device_count();
    const auto everything = device_group::available();
    const auto three = device_group::available(3);
    if (gpus == 0) {
        CHECK(everything.kind() == backend::host);
        CHECK(everything.size() == 1);
        CHECK(three.size() == 3);
    } else {
        CHECK(three.kind() == backend::cuda);
        CHECK(everything.size() == std::min(gpus, max_gpus));
        CHECK(three.size() == std::min(gpus, 3));
    }
    CHECK_THROWS_WITH_AS((void)device_group::available(0),
                         "device_group::available: 0 devices, allowed is 1 or more", usage_error);
}

// A copy takes what the sender's stream had before, and the receiver's work after a join comes
// after it: a chain through all devices and back, several times without the host.
KRYLITH_GROUP_TEST("groups: copies across devices keep the order of streams and joins") {
    constexpr int n = 5000;
    std::vector<buffer<int>> parts;
    for (int i = 0; i < group.size(); ++i) {
        parts.emplace_back(group.handle(i), n, "test");
        parts.back().zero();
    }
    for (int round = 0; round < 5; ++round) {
        parts[0].upload(numbers(n, round));
        for (int i = 0; i + 1 < group.size(); ++i) {
            const auto from = static_cast<std::size_t>(i);
            group.copy(i, parts[from].data(), i + 1, parts[from + 1].data(), n * sizeof(int));
            group.join();
        }
        if (round % 2 == 0) continue; // in other rounds nobody waits before the next overwrites
        CHECK(parts.back().download() == numbers(n, round));
        group.join();
    }
    group.synchronize();
    for (const auto& part : parts) CHECK(part.download() == numbers(n, 4));
    group.copy(0, nullptr, group.size() - 1, nullptr, 0); // no bytes: no pointer is read
    group.synchronize();
}

// The same chain, where only neighbours wait for each other, before and after each copy.
KRYLITH_GROUP_TEST("groups: ranks wait for those that they are ordered after") {
    constexpr int n = 5000;
    std::vector<buffer<int>> parts;
    std::vector<rank_order> neighbours;
    for (int i = 0; i < group.size(); ++i) {
        parts.emplace_back(group.handle(i), n, "test");
        parts.back().zero();
        if (i > 0) neighbours.push_back({i - 1, i});
    }
    neighbours = both_ways(std::move(neighbours));
    for (int round = 0; round < 5; ++round) {
        parts[0].upload(numbers(n, round));
        for (int i = 0; i + 1 < group.size(); ++i) {
            const auto from = static_cast<std::size_t>(i);
            group.order(neighbours);
            group.copy(i, parts[from].data(), i + 1, parts[from + 1].data(), n * sizeof(int));
            group.order(neighbours);
        }
        CHECK(parts.back().download() == numbers(n, round));
    }
    group.synchronize();
}

TEST_CASE("groups: orders go both ways, each once") {
    CHECK(both_ways({}).empty());
    CHECK(both_ways({{1, 0}, {2, 1}, {0, 1}, {1, 0}}) ==
          std::vector<rank_order>{{0, 1}, {1, 0}, {1, 2}, {2, 1}});
}

KRYLITH_GROUP_TEST("groups: a copy lands in the middle of the target and nowhere else") {
    const int last = group.size() - 1;
    buffer<int> source(group.handle(0), std::span<const int>(numbers(100, 0)), "test");
    buffer<int> target(group.handle(last), 100, "test");
    target.zero();
    group.join();
    group.copy(0, source.data() + 10, last, target.data() + 50, 7 * sizeof(int));
    group.synchronize();
    std::vector<int> expected(100);
    for (std::size_t i = 0; i < 7; ++i) expected[50 + i] = 10 + static_cast<int>(i);
    CHECK(target.download() == expected);
}

} // namespace krylith
