// krylith bench watch, on a small system.
#include <doctest/doctest.h>

#include <krylith/bench/watch/watch_run.hpp>

namespace krylith::bench {

TEST_CASE("bench watch runs on host devices") {
    watch_request q;
    q.matrices = {"gallery:poisson2d:150"};
    q.iterations = 160;
    q.repetitions = 2;
    q.counts = {1, 2};
    q.devices.backend = "host";
    CHECK(watch_run(q).run());
}

} // namespace krylith::bench
