// <krylith/krylith.hpp> in a program that says `using namespace std` and `using namespace krylith`.
#include <algorithm>
#include <cmath>
#include <complex>
#include <execution>
#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include <krylith/krylith.hpp>

#include <doctest/doctest.h>

namespace stranger {

using namespace std;     // NOLINT: the point of this test
using namespace krylith; // NOLINT

/// Returns the largest error of a solve by every public way to write one.
double solve_rod() {
    const int64_t n = 40;
    csr_matrix<double> matrix{n, n, {0}, {}, {}};
    for (int64_t i = 0; i < n; ++i) {
        for (const int64_t j : {i - 1, i, i + 1})
            if (j >= 0 && j < n) {
                matrix.column_indices.push_back(static_cast<int32_t>(j));
                matrix.values.push_back(i == j ? 2 : -1);
            }
        matrix.row_offsets.push_back(static_cast<int64_t>(matrix.values.size()));
    }
    const std::vector<double> ones(static_cast<size_t>(n), 1.0);
    auto b = ones, x = ones;
    const device_group group = device_group::available(2);
    solve_result result = krylith::solve(group, matrix, b, x);
    const auto a = make_operator(group, matrix);
    distributed_vector<double> right = a->make_range_vector(), found = a->make_range_vector();
    right.upload(b);
    const solver_options options{.rtol = 1e-10, .preconditioning = side::right};
    result = solve(*a, right, found, options);
    result = cg(*a, right, found, options, jacobi<double>(*a));
    result = gmres(*a, right, found, options, krylith::identity());
    if (!result.converged() || result.reason == reason::breakdown)
        cerr << to_string(result.reason) << ' ' << to_string(result.iterations) << endl;
    found.download(x);
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double exact = 0.5 * static_cast<double>((i + 1) * (n - i));
        worst = max(worst, abs(x[static_cast<size_t>(i)] - exact) / exact);
    }
    return worst;
}

} // namespace stranger

TEST_CASE("umbrella header: its names stand beside those of std") {
    CHECK(stranger::solve_rod() < 1e-8);
}
