// What a member of a team throws.
#include <atomic>
#include <new>

#include <doctest/doctest.h>

#include <krylith/device/host/host_team.hpp>

namespace krylith {

TEST_CASE("host teams: what a member throws arrives when all have ended") {
    for (const int threads : {1, 2, 5}) {
        CAPTURE(threads);
        std::atomic<int> began = 0;
        std::atomic<int> members_seen = 0;
        const auto work = [&](int member, int members) {
            ++began;
            members_seen = members;
            if (member == members - 1) throw std::bad_alloc();
        };
        CHECK_THROWS_AS(in_team(threads, work), std::bad_alloc);
        CHECK(began == members_seen);
    }
}

TEST_CASE("host teams: of several failures one arrives") {
    CHECK_THROWS_AS(in_team(4, [](int /*member*/, int /*members*/) { throw 7; }), int);
}

} // namespace krylith
