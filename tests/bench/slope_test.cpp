// Time a step by the difference of two runs: every step of a run is timed, and none besides.
#include <cstdint>

#include <doctest/doctest.h>

#include <krylith/bench/common/slope.hpp>
#include <krylith/device/error.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>

namespace krylith::bench {
namespace {

int recording_of(std::int64_t few, std::int64_t many) {
    slope_effort effort;
    effort.warm_up = few;
    effort.iterations = many - few;
    return effort.recording();
}

TEST_CASE("slope: a turn divides both runs") {
    CHECK(recording_of(40, 240) == 40);
    CHECK(recording_of(20, 80) == 20);
    CHECK(recording_of(100, 300) == 25);
    CHECK(recording_of(41, 82) == 1); // 41 is prime, and more than 40
    CHECK(recording_of(3, 7) == 1);
}

TEST_CASE("repeated: a product that doesn't know of the stop runs as often as it is timed") {
    const device_group group = device_group::host(1);
    int calls = 0;
    const auto a =
        make_matrix_free<double>(group, equal_rows(4, 1), [&](const product_call<double>& call) {
            ++calls;
            for (std::int64_t i = 0; i < call.rows.size(); ++i) {
                call.y[i] = call.x[i];
            }
        });
    auto x = a->make_domain_vector();
    auto y = a->make_range_vector();
    timed_loop loop(group, {.unroll = 20});
    const auto body = [&] { multiply(loop.run(), *a, x, y); };
    (void)loop.seconds(20, body);
    CHECK(calls == 20);
    (void)loop.seconds(80, body);
    CHECK(calls == 100);
    CHECK_THROWS_WITH_AS((void)loop.seconds(30, body),
                         "30 trips can't be timed in recordings of 20", usage_error);
}

} // namespace
} // namespace krylith::bench
