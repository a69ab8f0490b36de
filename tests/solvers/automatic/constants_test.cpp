// solve() of systems whose matrix maps constants to 0: solved where b is in its range, and else the
// least residual, with the reason.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/solvers/automatic.hpp>

#include <krylith/tests/solvers/automatic/attempts.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

namespace {

using testing::problem;
using testing::tried;

/// The Laplacian of a grid of n x n nodes with weights, which nothing holds, and `held` on all
/// diagonal entries.
csr_matrix<double> network(std::int64_t n, double held) {
    testing::triplets entries;
    std::vector<double> diagonal(static_cast<std::size_t>(n * n), held);
    const auto join = [&](std::int64_t i, std::int64_t j) {
        const double weight = 1 + static_cast<double>((i + 3 * j) % 7);
        entries.emplace_back(i, j, -weight);
        entries.emplace_back(j, i, -weight);
        diagonal[static_cast<std::size_t>(i)] += weight;
        diagonal[static_cast<std::size_t>(j)] += weight;
    };
    for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x) {
            if (x + 1 < n) join(y * n + x, y * n + x + 1);
            if (y + 1 < n) join(y * n + x, y * n + x + n);
        }
    for (std::int64_t i = 0; i < n * n; ++i)
        entries.emplace_back(i, i, diagonal[static_cast<std::size_t>(i)]);
    return testing::from_triplets(n * n, entries);
}

double mean_of(const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

std::vector<double> without_mean(std::vector<double> v) {
    const double mean = mean_of(v);
    for (double& value : v) value -= mean;
    return v;
}

double norm_of(const std::vector<double>& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

} // namespace

KRYLITH_GROUP_TEST("auto: b with a mean that no A x has, x of the least residual") {
    const auto matrix = network(24, 0);
    auto b = testing::random_values<double>(matrix.rows, 41);
    b[3] += 20;
    const double least = std::fabs(mean_of(b)) * 24 / norm_of(b);
    for (const bool guess : {false, true}) {
        problem<double> p(group, matrix, b);
        p.x.upload(testing::random_values<double>(matrix.rows, 43));
        const auto result = solve(*p.a, matrix, p.b, p.x, {.initial_guess = guess});
        INFO(testing::describe(result));
        INFO(tried(result));
        CHECK(result.reason == reason::stagnated);
        CHECK(result.diagnosis.find("A maps constants to 0") == 0);
        CHECK(result.diagnosis.find("least residual") != std::string::npos);
        CHECK(result.relative_residual() == doctest::Approx(least).epsilon(1e-6));
        CHECK(p.relative_residual() == doctest::Approx(least).epsilon(1e-6));
        CHECK(result.attempts.size() == 2); // what failed, and what solved the other system
        CHECK(result.attempts.back().because == "A maps constants to 0: b without its mean");
    }
    // b may be nothing but its mean.
    problem<double> p(group, matrix, std::vector<double>(static_cast<std::size_t>(matrix.rows), 2));
    const auto result = solve(*p.a, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.reason == reason::stagnated);
    CHECK(result.relative_residual() == doctest::Approx(1.0));
}

KRYLITH_GROUP_TEST(
    "auto: two networks that nothing holds: the mean of b is not all that is too much") {
    const auto one = network(9, 0);
    testing::triplets entries;
    for (std::int64_t row = 0; row < one.rows; ++row)
        for (auto k = one.row_offsets[as_size(row)]; k < one.row_offsets[as_size(row + 1)]; ++k)
            for (const std::int64_t first : {std::int64_t{0}, one.rows})
                entries.emplace_back(first + row, first + one.column_indices[as_size(k)],
                                     one.values[as_size(k)]);
    const auto matrix = testing::from_triplets(2 * one.rows, entries);
    std::vector<double> b(as_size(matrix.rows), 1);
    b[0] = 50;
    problem<double> p(group, matrix, b);
    const auto result = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(result));
    CHECK_FALSE(result.converged());
    CHECK(result.relative_residual() <= 1);
    CHECK(p.relative_residual() == doctest::Approx(result.relative_residual()).epsilon(1e-6));
    CHECK(result.attempts.size() > 2);
    double solving = 0; // the result counts what all attempts took
    for (const solve_attempt& attempt : result.attempts) solving += attempt.solve_seconds;
    CHECK(solving > 0);
    CHECK(result.solve_seconds == doctest::Approx(solving));
    CHECK(result.seconds_per_iteration() * static_cast<double>(result.iterations) ==
          doctest::Approx(result.best_attempt()->solve_seconds));
    CHECK(result.attempts.back().because != "A maps constants to 0: b without its mean");
}

KRYLITH_GROUP_TEST("auto: systems with constants that have solutions get them") {
    const auto singular = network(20, 0);
    const auto b = testing::random_values<double>(singular.rows, 42);
    problem<double> consistent(group, singular, without_mean(b));
    CHECK(solve(*consistent.a, consistent.b, consistent.x).converged());
    CHECK(consistent.relative_residual() <= 1.1e-8);
    for (const double held : {1e-6, 1e-3, 1.0}) {
        const auto matrix = network(20, held);
        problem<double> p(group, matrix, b);
        CHECK(solve(*p.a, p.b, p.x).converged());
        CHECK(p.relative_residual() <= 1.1e-8);
    }
}

} // namespace krylith
