// Set-up that is asked to end.
#include <atomic>

#include <doctest/doctest.h>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/device/threads/interruption.hpp>

namespace krylith {

TEST_CASE("interruption: the thread's own, the one around it, and none afterwards") {
    CHECK_NOTHROW(interruption_point());
    bool outer_wants = false;
    bool inner_wants = false;
    {
        const interruption outer([&] { return outer_wants; });
        CHECK_NOTHROW(interruption_point());
        {
            const interruption inner([&] { return inner_wants; });
            CHECK_NOTHROW(interruption_point());
            inner_wants = true;
            CHECK_THROWS_AS(interruption_point(), interrupted_error);
            inner_wants = false;
            outer_wants = true;
            CHECK_THROWS_AS(interruption_point(), interrupted_error);
        }
        CHECK_THROWS_AS(interruption_point(), interrupted_error);
    }
    CHECK_NOTHROW(interruption_point());
}

TEST_CASE("interruption: threads that work for another ask what it asks") {
    const auto group = device_group::host(3);
    std::atomic<int> asked = 0;
    const interruption ends([&] { return ++asked < 0; });
    on_each_rank(group, [](int /*rank*/) { interruption_point(); });
    CHECK(asked == 3);
    const interruption now([] { return true; });
    CHECK_THROWS_AS(on_each_rank(group, [](int /*rank*/) { interruption_point(); }),
                    interrupted_error);
}

} // namespace krylith
