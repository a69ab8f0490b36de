// Threads that the system doesn't give, and two threads that may not drive one group.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include <krylith/device/device_group.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/group_driver.hpp>
#include <krylith/device/host/host_threads.hpp>

namespace krylith {

namespace {

/// Returns whether another thread may drive the group meanwhile.
bool another_may(const device_group& group) {
    std::atomic<bool> may = true;
    std::thread([&] {
        try {
            const group_driver driver(group);
        } catch (const usage_error&) {
            may = false;
        }
    }).join();
    return may;
}

} // namespace

TEST_CASE("host threads: more than some a core are refused") {
    CHECK(most_host_threads() >= 64);
    CHECK_THROWS_WITH_AS((void)device_group::host(2, {.host_threads = 100000}),
                         doctest::Contains("host_threads is 100000: allowed are 0 (one a core) to"),
                         usage_error);
}

TEST_CASE("host threads: those that can be had are not refused") {
    CHECK_NOTHROW(probe_threads(8, "a test"));
    CHECK(obtainable_threads(8) == 8);
    CHECK(obtainable_threads(0) == 1);
}

TEST_CASE("group driver: one thread at a time, which may nest") {
    const auto group = device_group::host(2, {.host_threads = 2});
    CHECK(another_may(group));
    {
        const group_driver outer(group);
        CHECK_FALSE(another_may(group));
        {
            const group_driver inner(group);
            CHECK_FALSE(another_may(group));
        }
        CHECK_FALSE(another_may(group));
        CHECK(another_may(device_group::host(2, {.host_threads = 2})));
    }
    CHECK(another_may(group));
}

} // namespace krylith
