// The spectrum by the coefficients of CG, against dense eigenvalues.
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/iteration/spectrum.hpp>
#include <krylith/solvers/persistent_cg.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::diagonal_matrix;
using testing::method;
using testing::modes_of;
using testing::problem;
using testing::random_values;
using testing::to_eigen;

namespace {

spectrum_estimate extremes(const Eigen::MatrixXd& symmetric) {
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
            .eigenvalues();
    return {values.minCoeff(), values.maxCoeff()};
}

/// Of D^-1/2 A D^-1/2, which has the eigenvalues of D^-1 A.
spectrum_estimate jacobi_extremes(const csr_matrix<double>& a) {
    const Eigen::MatrixXd m = to_eigen(a);
    const Eigen::VectorXd d = m.diagonal().cwiseSqrt().cwiseInverse();
    return extremes(d.asDiagonal() * m * d.asDiagonal());
}

void are(const std::optional<spectrum_estimate>& found, const spectrum_estimate& expected,
         double tolerance) {
    REQUIRE(found.has_value());
    // Ratios, because Approx takes numbers far below 1 for 0.
    CHECK(found->smallest / expected.smallest == doctest::Approx(1).epsilon(tolerance));
    CHECK(found->largest / expected.largest == doctest::Approx(1).epsilon(tolerance));
    CHECK(found->condition() ==
          doctest::Approx(expected.largest / expected.smallest).epsilon(2 * tolerance));
    // Ritz values lie inside.
    CHECK(found->smallest >= expected.smallest * (1 - 1e-7));
    CHECK(found->largest <= expected.largest * (1 + 1e-7));
}

/// D and L of T = L D L' as coefficients of CG, and T itself.
struct lanczos_matrix {
    std::vector<double> alpha;
    std::vector<double> beta;
    Eigen::MatrixXd t;
};

lanczos_matrix make_lanczos(std::size_t size, std::uint64_t seed) {
    lanczos_matrix m;
    const auto random = random_values<double>(static_cast<std::int64_t>(2 * size), seed);
    m.t = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
    for (std::size_t j = 0; j < size; ++j) {
        m.alpha.push_back(std::exp(3 * random[2 * j]));
        m.beta.push_back(std::exp(2 * random[2 * j + 1]));
        const auto i = static_cast<Eigen::Index>(j);
        m.t(i, i) += 1 / m.alpha[j];
        if (j + 1 == size) break;
        m.t(i + 1, i + 1) += m.beta[j] / m.alpha[j];
        m.t(i, i + 1) = m.t(i + 1, i) = std::sqrt(m.beta[j]) / m.alpha[j];
    }
    return m;
}

} // namespace

TEST_CASE("spectrum: extreme eigenvalues of tridiagonal matrices") {
    for (const std::size_t size : {1, 2, 3, 10, 200}) {
        CAPTURE(size);
        const lanczos_matrix m = make_lanczos(size, size);
        const auto expected = extremes(m.t);
        const auto found = extreme_ritz_values(m.alpha, m.beta);
        REQUIRE(found.has_value());
        const double rounding = 1e-13 * expected.largest; // what the dense solver loses
        CHECK(std::fabs(found->smallest - expected.smallest) <=
              1e-11 * expected.smallest + rounding);
        CHECK(found->largest == doctest::Approx(expected.largest).epsilon(1e-11));
    }
}

TEST_CASE("spectrum: small eigenvalues have relative accuracy, far below rounding of the largest") {
    // 2 x 2 with determinant 1 / (alpha_0 alpha_1), so that the smaller one follows.
    const std::vector<double> alpha = {1e-15, 1e15};
    const std::vector<double> beta = {1e-3, 0};
    const auto found = extreme_ritz_values(alpha, beta);
    REQUIRE(found.has_value());
    CHECK(found->smallest * found->largest ==
          doctest::Approx(1 / (alpha[0] * alpha[1])).epsilon(1e-10));
}

TEST_CASE("spectrum: coefficients that end early or make no matrix") {
    CHECK_FALSE(extreme_ritz_values({}, {}).has_value());
    const std::vector<double> bad = {0};
    CHECK_FALSE(extreme_ritz_values(bad, bad).has_value());
    const std::vector<double> alpha = {0.5, -1};
    const std::vector<double> beta = {0, 1};
    const auto found = extreme_ritz_values(alpha, beta);
    REQUIRE(found.has_value());
    CHECK(found->smallest == doctest::Approx(2));
    CHECK(found->largest == doctest::Approx(2));
}

KRYLITH_GROUP_TEST("spectrum: cg finds the extreme eigenvalues of A") {
    const auto matrix = poisson2d<double>(11, 9);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 4));
    for (const auto mode : modes_of(group)) {
        const auto result =
            p.solve(method::cg, {.rtol = 1e-13, .history = true, .mode = mode, .unroll = 5});
        INFO(describe(result));
        are(result.spectrum, extremes(to_eigen(matrix)), 1e-4);
    }
    CHECK_FALSE(p.solve(method::cg).spectrum.has_value());
    CHECK_FALSE(p.solve(method::gmres, {.history = true}).spectrum.has_value());
    CHECK_FALSE(p.solve(method::cg, {.max_iterations = 0, .history = true}).spectrum.has_value());
    const auto few = p.solve(method::cg, {.max_iterations = 3, .history = true});
    REQUIRE(few.spectrum.has_value());
    const auto all = extremes(to_eigen(matrix));
    CHECK(few.spectrum->smallest > all.smallest);
    CHECK(few.spectrum->largest < all.largest);
}

KRYLITH_GROUP_TEST("spectrum: with a preconditioner it is that of M^-1 A") {
    const auto matrix = poisson2d<double>(11, 9, random_scaling{3});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 4));
    const auto result = p.solve_jacobi(method::cg, {.rtol = 1e-13, .history = true});
    INFO(describe(result));
    are(result.spectrum, jacobi_extremes(matrix), 1e-4);
}

KRYLITH_GROUP_TEST(
    "spectrum: of a diagonal matrix it is exact, in as many iterations as it has values") {
    const std::vector<double> diagonal = {3, 7, 3, 11, 7, 3, 11, 11, 3, 7};
    problem<double> p(group, diagonal_matrix(diagonal),
                      random_values<double>(static_cast<std::int64_t>(diagonal.size()), 2));
    const auto result = p.solve(method::cg, {.history = true});
    CHECK(result.iterations == 3);
    are(result.spectrum, {3, 11}, 1e-10);
}

KRYLITH_GROUP_TEST("spectrum: numbers far from 1 are scaled back") {
    auto matrix = poisson2d<double>(6, 5);
    const auto expected = extremes(to_eigen(matrix));
    for (const double size : {0x1p-500, 0x1p500}) {
        auto scaled = matrix;
        for (double& value : scaled.values) value *= size;
        problem<double> p(group, scaled, random_values<double>(matrix.rows, 4));
        const spectrum_estimate of_a{expected.smallest * size, expected.largest * size};
        are(p.solve(method::cg, {.rtol = 1e-13, .history = true}).spectrum, of_a, 1e-6);
        // Jacobi takes powers of two out of a diagonal of such a size.
        const auto with_m = p.solve_jacobi(method::cg, {.rtol = 1e-13, .history = true});
        REQUIRE(with_m.spectrum.has_value());
        CHECK(with_m.spectrum->condition() ==
              doctest::Approx(expected.largest / expected.smallest).epsilon(1e-6));
        // One that doesn't: M^-1 = I / 2^300, which the solver scales.
        const auto tiny =
            make_preconditioner(*p.a,
                                [](const preconditioner_call<double>& call) {
                                    for (std::int64_t i = 0; i < call.rows.size(); ++i)
                                        call.z[i] = std::ldexp(call.r[i], -300);
                                },
                                {.kind = preconditioner_kind::on_host});
        const auto own = cg(*p.a, p.b, p.x, {.rtol = 1e-13, .history = true}, tiny);
        are(own.spectrum, {of_a.smallest * 0x1p-300, of_a.largest * 0x1p-300}, 1e-6);
    }
}

KRYLITH_GROUP_TEST("spectrum: a recurrence that begins anew begins another estimate") {
    // Rounding parts the recurrence from the true residual, which replaces it.
    const auto matrix = poisson2d<double>(9, 8, random_scaling{5});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 4));
    const auto result =
        p.solve(method::cg, {.rtol = 1e-12, .max_iterations = 5000, .history = true});
    INFO(describe(result));
    REQUIRE(result.spectrum.has_value());
    const auto all = extremes(to_eigen(matrix));
    CHECK(result.spectrum->smallest >= all.smallest * (1 - 1e-3));
    CHECK(result.spectrum->largest == doctest::Approx(all.largest).epsilon(1e-3));
    CHECK(result.spectrum->largest <= all.largest * (1 + 1e-7));
}

KRYLITH_GROUP_TEST("persistent cg: the spectrum is that of cg") {
    const auto matrix = poisson3d<double>(10);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
    const jacobi<double> m(*p.a);
    if (!not_persistent_because(*p.a, m, p.b).empty()) return;
    const solver_options options{.history = true};
    const auto check = [](const solve_result& found, const solve_result& expected) {
        REQUIRE(expected.spectrum.has_value());
        are(found.spectrum, *expected.spectrum, 1e-6);
    };
    check(persistent_cg(*p.a, p.b, p.x, options), cg(*p.a, p.b, p.x, options));
    check(persistent_cg(*p.a, p.b, p.x, options, m), cg(*p.a, p.b, p.x, options, m));
}

} // namespace krylith
