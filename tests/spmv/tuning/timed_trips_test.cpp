// Timing by repetition: the work done is the work counted.
#include <cstdint>

#include <doctest/doctest.h>

#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

TEST_CASE("timed trips: a product that doesn't know of the stop runs in whole recordings") {
    CHECK(whole_recordings(0) == 0);
    CHECK(whole_recordings(1) == 16);
    CHECK(whole_recordings(16) == 16);
    CHECK(whole_recordings(200) == 208);

    const auto group = device_group::host(1);
    std::int64_t calls = 0;
    const auto a =
        make_matrix_free<double>(group, equal_rows(3, 1), [&](const product_call<double>& call) {
            ++calls;
            for (std::int64_t i = 0; i < 3; ++i) call.y[i] = call.x[i];
        });
    const auto x = a->make_domain_vector();
    auto y = a->make_range_vector();
    execution run(group, {});
    scalar one(run);
    const auto body = [&] {
        a->apply(run, 1.0, x, 0.0, y);
        one = 1.0;
        test_residual(one);
    };
    repeat_trips(run, body, 32);
    CHECK(calls == 32);
    CHECK(seconds_a_trip(run, body, 0) > 0); // 16 trips to warm up and 16 that are timed
    CHECK(calls == 64);
}

} // namespace krylith
