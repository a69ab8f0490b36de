// D^-1/2 A D^-1/2 over the devices of a group.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

namespace {

distributed_csr<double> spread(const device_group& group, const csr_matrix<double>& a) {
    const row_partition rows = equal_rows(a.rows, group.size());
    return {group, csr_view<double>(a), rows, rows};
}

std::vector<double> scaled_values(const distributed_csr<double>& a,
                                  const detail::diagonal_scaling& by) {
    return detail::scaled<double>(a, by).download().values;
}

} // namespace

KRYLITH_GROUP_TEST("diagonal scaling: Gershgorin's bound, S and the scaled matrix, of any size") {
    const auto small = testing::from_dense({{4, -2, 0}, {-2, 16, -3}, {0, -3, 1}});
    for (const int exponent : {0, 700, -702}) {
        CAPTURE(exponent);
        auto large = small;
        for (double& v : large.values) v = std::ldexp(v, exponent);
        const auto a = spread(group, large);
        auto by = detail::scaling_of(a, {"test"});
        CHECK(by.bound == 2); // of row 1 of S A S: 2 / 8 + 1 + 3 / 4; A's is 4, of row 2
        CHECK(by.largest == std::ldexp(1.0, -exponent / 2));
        CHECK(by.inverse == std::ldexp(4.0, exponent / 2));
        CHECK(scaled_values(a, by) ==
              std::vector<double>{0.5, -0.125, -0.125, 0.5, -0.375, -0.375, 0.5});
        by.bound = -0.5; // any number may stand for it
        CHECK(scaled_values(a, by) == std::vector<double>{-2, 0.5, 0.5, -2, 1.5, 1.5, -2});
    }
}

KRYLITH_GROUP_TEST("diagonal scaling: a diagonal that it can't take is refused by its row") {
    const auto refuses = [&](const csr_matrix<double>& matrix, const char* words) {
        CHECK_THROWS_WITH_AS((void)detail::scaling_of(spread(group, matrix), {"test"}),
                             doctest::Contains(words), input_error);
    };
    refuses(testing::diagonal_matrix({1, -2, 3}),
            "test: the diagonal entry of row 1 (counted from 0) is -2");
    refuses(testing::diagonal_matrix({1, 2, std::numeric_limits<double>::infinity()}),
            "row 2 (counted from 0) is inf");
    refuses(testing::diagonal_matrix({std::nan(""), 1}), "row 0 (counted from 0) is nan");
    refuses(testing::from_dense({{1, 1}, {1, 0}}), "row 1 (counted from 0) is 0");
    refuses(testing::from_dense({{1, 1e308, 1e308}, {1e308, 1, 0}, {1e308, 0, 1}}),
            "the absolute values of row 0 (counted from 0) add up to inf");
}

KRYLITH_GROUP_TEST("diagonal scaling: a diagonal that fp32 can't span, by the caller's row") {
    const auto matrix = testing::diagonal_matrix({1, 0x1p260, 2, 4});
    for (const auto order : {orders::none, orders::rcm}) {
        const auto a = make_operator(group, matrix, {.order = order});
        CHECK_THROWS_WITH_AS(chebyshev<double>(*a, matrix),
                             doctest::Contains("chebyshev: the diagonal entry of row 1 (counted "
                                               "from 0) is 1.8526734277970591e+78, too far above "
                                               "the smallest, 1, for fp32"),
                             input_error);
        CHECK_NOTHROW(chebyshev<double>(*a, matrix, {.precision = chebyshev_precision::fp64}));
    }
}

} // namespace krylith
