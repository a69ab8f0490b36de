// Blocks that travel beside the devices' streams: order, overlap with later work, failures.
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <krylith/comm/copy/block_exchange.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/memory/buffer.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

constexpr std::size_t count = 1000;

/// Makes an array a rank, full of the rank's number.
std::vector<buffer<double>> numbered(const device_group& group) {
    std::vector<buffer<double>> arrays;
    for (int rank = 0; rank < group.size(); ++rank) {
        const std::vector<double> values(count * static_cast<std::size_t>(group.size()), rank);
        arrays.emplace_back(group.handle(rank), std::span<const double>(values), "test");
    }
    return arrays;
}

/// Sends a range of each rank's array to each other rank.
void everybody_sends(const device_group& group, block_exchange& exchange,
                     const std::vector<buffer<double>>& arrays) {
    group.join();
    std::vector<block_message> messages;
    for (int from = 0; from < group.size(); ++from)
        for (int to = 0; to < group.size(); ++to) {
            const auto first = static_cast<std::size_t>(from) * count;
            if (from != to)
                messages.push_back({from, arrays[static_cast<std::size_t>(from)].data() + first, to,
                                    arrays[static_cast<std::size_t>(to)].data() + first,
                                    count * sizeof(double)});
        }
    exchange.send(messages);
    exchange.finish();
}

void check_gathered(const std::vector<buffer<double>>& arrays, double plus) {
    for (const auto& array : arrays) {
        const auto values = array.download();
        bool good = true;
        for (std::size_t i = 0; i < values.size(); ++i)
            good = good && values[i] == static_cast<double>(i / count) + plus;
        CHECK(good);
    }
}

host_device& host_of(const device_group& group, int rank) {
    return static_cast<host_device&>(group[rank]);
}

} // namespace

KRYLITH_GROUP_TEST("block exchange: by copies everybody has what everybody sent") {
    const auto exchange = make_copy_exchange(group);
    const auto arrays = numbered(group);
    for (int round = 0; round < 5; ++round) everybody_sends(group, *exchange, arrays);
    check_gathered(arrays, 0);
    exchange->send({}); // no messages are allowed too
    exchange->finish();
    group.synchronize();
}

// The sender is slow, and the receiver reads at once: only the exchange orders them. What a sender
// does after send() must not be in the message, and the receiver must not see half of it.
TEST_CASE("block exchange: copies follow the sender's work, and readers follow the copies") {
    for (const int devices : {2, 4}) {
        const auto group = device_group::host(devices);
        const auto exchange = make_copy_exchange(group);
        const auto arrays = numbered(group);
        for (int round = 1; round <= 10; ++round) {
            for (int rank = 0; rank < devices; ++rank)
                host_of(group, rank)
                    .submit([=, to = arrays[static_cast<std::size_t>(rank)].data()] {
                        std::this_thread::sleep_for(std::chrono::microseconds(200 * (rank % 2)));
                        for (std::size_t i = 0; i < count; ++i)
                            to[static_cast<std::size_t>(rank) * count + i] = rank + round;
                    });
            everybody_sends(group, *exchange, arrays);
            for (int rank = 0; rank < devices; ++rank)
                host_of(group, rank)
                    .submit([=, at = arrays[static_cast<std::size_t>(rank)].data()] {
                        for (std::size_t i = 0; i < count * static_cast<std::size_t>(devices); ++i)
                            if (at[i] != static_cast<double>(i / count) + round)
                                throw std::runtime_error("entry " + std::to_string(i) +
                                                         " is early");
                    });
        }
        group.synchronize();
        check_gathered(arrays, 10);
    }
}

TEST_CASE("block exchange: the host does not wait") {
    const auto group = device_group::host(3);
    const auto exchange = make_copy_exchange(group);
    const auto arrays = numbered(group);
    std::uint64_t before = 0;
    for (int rank = 0; rank < 3; ++rank) before += host_of(group, rank).waits();
    for (int round = 0; round < 20; ++round) everybody_sends(group, *exchange, arrays);
    std::uint64_t after = 0;
    for (int rank = 0; rank < 3; ++rank) after += host_of(group, rank).waits();
    CHECK(after == before);
    check_gathered(arrays, 0);
}

TEST_CASE("block exchange: a device that failed sends nothing, says so once, and works again") {
    const auto group = device_group::host(3);
    const auto exchange = make_copy_exchange(group);
    const auto arrays = numbered(group);
    host_of(group, 1).submit([] { throw std::runtime_error("planted"); });
    everybody_sends(group, *exchange, arrays);
    CHECK_THROWS_WITH_AS(group.synchronize(), doctest::Contains("planted"), device_error);
    try {
        group.synchronize();
    } catch (const device_error&) { // NOLINT(bugprone-empty-catch): from devices that waited for it
    }
    everybody_sends(group, *exchange, arrays);
    check_gathered(arrays, 0);
}

TEST_CASE("block exchange: NCCL is refused where it can't work") {
    CHECK_THROWS_AS((void)make_nccl_exchange(device_group::host(2)), usage_error);
    CHECK_THROWS_WITH_AS(require_nccl(device_group::host(2)),
                         doctest::Contains("allowed are peer-store and copy-engine"), usage_error);
}

// One GPU tests the refusal only: NCCL wants distinct ones.
TEST_CASE("block exchange: by NCCL everybody has what everybody sent [cuda]") {
    const int gpus = cuda_device_count();
    REQUIRE(gpus > 0);
    const int twice[] = {0, 0};
    CHECK_THROWS_AS(require_nccl(device_group::cuda(twice)), usage_error);
    if (gpus == 1 || !nccl_built_in()) {
        MESSAGE("covers the refusal only: ", gpus, " GPU(s), NCCL built in: ", nccl_built_in());
        return;
    }
    for (const int devices : {2, gpus}) {
        std::vector<int> ordinals;
        for (int i = 0; i < devices; ++i) ordinals.push_back(i);
        const auto group = device_group::cuda(ordinals);
        const auto exchange = make_nccl_exchange(group);
        const auto arrays = numbered(group);
        for (int round = 0; round < 5; ++round) everybody_sends(group, *exchange, arrays);
        check_gathered(arrays, 0);
    }
}

} // namespace krylith
