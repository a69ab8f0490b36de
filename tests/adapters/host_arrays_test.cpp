// One array of the caller as the vector of several host devices.
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/adapters/host_arrays.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

// The bugs: parts that begin at the wrong row, or a solution that ends up in a copy.
TEST_CASE("host arrays: a solve reads b and writes x where they lie") {
    const auto matrix = poisson3d<double>(9);
    const auto b = testing::random_values<double>(matrix.rows, 7);
    for (const int devices : {1, 2, 3, 7})
        for (const auto kind : {operators::halo, operators::nz}) {
            if (kind == operators::nz && devices > 1) continue; // refused, see below
            CAPTURE(devices);
            const auto group = device_group::host(devices);
            const auto a = make_operator(group, matrix, {.kind = kind});
            std::vector<double> x(b.size(), 5.0);
            const auto in = borrow_host_array(a->layout(), std::span<const double>(b));
            auto out = borrow_host_array(a->layout(), std::span<double>(x));
            CHECK(in.data(0) == b.data());
            CHECK(out.data(0) == x.data());
            REQUIRE(cg(*a, in, out).converged());
            CHECK(testing::residual_norm(matrix, b, x) <= 1.01e-8 * testing::norm(b));
        }
}

TEST_CASE("host arrays: replicated vectors and other lengths are refused") {
    const auto matrix = poisson2d<double>(6);
    const auto replicated = make_operator(device_group::host(2), matrix, {.kind = operators::nz});
    const auto owned = make_operator(device_group::host(2), matrix, {.kind = operators::halo});
    std::vector<double> x(36);
    CHECK(!can_borrow_host_array(*replicated->layout()));
    CHECK(can_borrow_host_array(*owned->layout()));
    CHECK_THROWS_WITH_AS((void)borrow_host_array(replicated->layout(), std::span<double>(x)),
                         doctest::Contains("2 host devices"), usage_error);
    CHECK_THROWS_WITH_AS((void)borrow_host_array(owned->layout(), std::span<double>(x).first(35)),
                         doctest::Contains("35 entries for a vector of 36"), usage_error);
}

} // namespace krylith
