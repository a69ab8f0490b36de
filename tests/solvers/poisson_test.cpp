// Poisson problems, whose eigenvectors are known: CG must take the iterations of theory, the same
// on any number of devices, and give the same bits on every run.
#include <algorithm>
#include <cmath>
#include <vector>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::different_operators;
using testing::every_method;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::solve;
using testing::worth_running;

namespace {

/// Returns the entry-wise product of sines, an eigenvector of poisson2d(nx, ny).
std::vector<double> eigenvector(int nx, int ny, int i, int j) {
    std::vector<double> v;
    for (int y = 1; y <= ny; ++y)
        for (int x = 1; x <= nx; ++x)
            v.push_back(std::sin(i * x * M_PI / (nx + 1)) * std::sin(j * y * M_PI / (ny + 1)));
    return v;
}

double eigenvalue(int nx, int ny, int i, int j) {
    const double s = std::sin(i * M_PI / (2 * (nx + 1)));
    const double t = std::sin(j * M_PI / (2 * (ny + 1)));
    return 4 * s * s + 4 * t * t;
}

/// Returns the largest relative difference of two histories while both are above 1e-6 of the start.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
        if (std::min(a[k], b[k]) > 1e-6 * a[0])
            worst = std::max(worst, std::fabs(a[k] - b[k]) / a[k]);
    return worst;
}

} // namespace

KRYLITH_GROUP_TEST("poisson: b an eigenvector is solved in one iteration") {
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            const auto v = eigenvector(21, 17, 3, 2);
            problem<double> p(group, poisson2d<double>(21, 17), v, {.kind = kind});
            // The diagonal is constant, so Jacobi changes nothing.
            for (const bool precondition : {false, true}) {
                const auto result = precondition ? p.solve_jacobi(which) : p.solve(which);
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(result.iterations == 1);
                const auto x = p.solution();
                double worst = 0;
                for (std::size_t i = 0; i < v.size(); ++i)
                    worst = std::max(worst, std::fabs(x[i] - v[i] / eigenvalue(21, 17, 3, 2)));
                CHECK(worst < 1e-12);
            }
        }
}

// b has k distinct eigenvalues, so CG takes k iterations, in exact arithmetic and here.
KRYLITH_GROUP_TEST("poisson: a sum of four eigenvectors is solved in four iterations") {
    auto b = eigenvector(15, 15, 1, 1);
    for (const auto& [i, j] : {std::pair{2, 3}, {5, 7}, {11, 13}}) {
        const auto v = eigenvector(15, 15, i, j);
        for (std::size_t k = 0; k < v.size(); ++k) b[k] += v[k];
    }
    problem<double> p(group, poisson2d<double>(15), b);
    for (const auto which : {testing::method::cg, testing::method::gmres}) {
        const auto result = p.solve(which, {.rtol = 1e-10});
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.iterations == 4);
        CHECK(p.relative_residual() <= 1e-10);
    }
}

namespace {

/// Checks that all groups take the same iterations, with histories that agree.
void compare_groups(const std::vector<device_group>& groups, const csr_matrix<double>& matrix,
                    std::span<const testing::method> methods) {
    const auto b = random_values<double>(matrix.rows, 71);
    for (const auto kind : different_operators())
        for (const auto which : methods) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            CAPTURE(name_of(kind));
            std::vector<double> expected;
            for (const auto& group : groups) {
                INFO(testing::describe(group));
                problem<double> p(group, matrix, b, {.kind = kind});
                const auto result = p.solve(which, {.history = true});
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(p.relative_residual() <= 1e-8 * (1 + 1e-6));
                REQUIRE(result.history.size() == static_cast<std::size_t>(result.iterations) + 1);
                if (expected.empty()) expected = result.history;
                CHECK(result.history.size() == expected.size());
                CHECK(largest_difference(expected, result.history) <= 1e-10);
            }
        }
}

/// Compares groups by iterations and histories. Groups add up dot products in different orders. CG
/// and GMRES damp such differences; BiCGStab amplifies them from one iteration to the next,
/// whatever computes it, so it is compared where it needs few.
void compare_solvers(const std::vector<device_group>& groups) {
    constexpr testing::method stable[] = {testing::method::cg, testing::method::gmres};
    compare_groups(groups, poisson3d<double>(11, 10, 9, random_scaling{3}), stable);
    compare_groups(groups, random_spd<double>(900, 9, 3), all_methods);
}

} // namespace

TEST_CASE("poisson: as many iterations on any number of devices, the same history") {
    compare_solvers(testing::host_groups());
}
TEST_CASE("poisson: as many iterations on any number of devices, the same history [cuda]") {
    auto groups = testing::cuda_groups();
    groups.push_back(device_group::host(2)); // the host must agree too
    compare_solvers(groups);
}

KRYLITH_GROUP_TEST("poisson: recorded or eager, unrolled or not: the same bits every time") {
    const auto matrix = poisson2d<double>(11, 14, random_scaling{5});
    const auto b = random_values<double>(matrix.rows, 72);
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            CAPTURE(name_of(kind));
            std::vector<double> expected;
            for (const auto mode : modes_of(group))
                for (const int unroll : {1, 7, 16}) {
                    CAPTURE(unroll);
                    problem<double> p(group, matrix, b, {.kind = kind});
                    const auto result =
                        p.solve(which, {.history = true, .mode = mode, .unroll = unroll});
                    CHECK(result.converged());
                    CHECK(result.recorded == (mode == execution_mode::recorded));
                    auto seen = result.history;
                    const auto x = p.solution();
                    seen.insert(seen.end(), x.begin(), x.end());
                    seen.push_back(result.true_residual);
                    if (expected.empty()) expected = seen;
                    CHECK(same_bits(seen, expected));
                }
        }
}

KRYLITH_GROUP_TEST("poisson: fp32 reaches what fp32 can") {
    const auto matrix = testing::converted<float>(poisson2d<double>(20));
    const auto b = random_values<float>(matrix.rows, 73);
    for (const auto kind : different_operators())
        for (const auto which : every_method) {
            if (!worth_running(which, kind)) continue;
            CAPTURE(name_of(which));
            problem<float> p(group, matrix, b, {.kind = kind});
            const auto result = p.solve(which, {.rtol = 1e-5});
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.1e-5);
            CHECK(p.solve_jacobi(which, {.rtol = 1e-5}).converged());
        }
}

} // namespace krylith
