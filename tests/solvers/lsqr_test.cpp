// LSQR: rectangular matrices of every kind against dense QR and SciPy, and the promises of a solve.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/lsqr.hpp>
#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::random_values;
using testing::rectangular_matrix;
using testing::same_bits;
using testing::to_eigen;
using testing::values_of;

namespace {

/// The least squares problem of A and b, with x full of NaN.
template <class T = double>
struct least_squares {
    least_squares(const device_group& group, const csr_matrix<double>& matrix,
                  const std::vector<double>& rhs, operator_options options = {})
        : dense(to_eigen(matrix)), b0(to_eigen(rhs)) {
        options.transposed_products = true;
        a = make_operator(group, testing::converted<T>(matrix), options);
        b.emplace(
            testing::make_range_vector(a->range_layout(), std::vector<T>(rhs.begin(), rhs.end())));
        x.emplace(a->domain_layout());
        testing::fill(*x, static_cast<T>(NAN));
    }

    solve_result solve(const solver_options& options = {}) { return lsqr(*a, *b, *x, options); }
    [[nodiscard]] std::vector<T> solution() const { return values_of(*x); }

    [[nodiscard]] double residual() const { return (b0 - dense * to_eigen(solution())).norm(); }
    [[nodiscard]] double normal() const {
        return (dense.transpose() * (b0 - dense * to_eigen(solution()))).norm();
    }
    /// The shortest x of least residual.
    [[nodiscard]] Eigen::VectorXd expected() const {
        return dense.completeOrthogonalDecomposition().solve(b0);
    }
    [[nodiscard]] double norm_of_a() const {
        return Eigen::JacobiSVD<Eigen::MatrixXd>(dense).singularValues()[0];
    }

    Eigen::MatrixXd dense;
    Eigen::VectorXd b0;
    std::unique_ptr<matrix_operator<T>> a;
    std::optional<vector<T>> b;
    std::optional<vector<T>> x;
};

/// 40 x 25, of full rank and condition 5, and a b outside its range. The formulas are in the lines
/// of Python below.
csr_matrix<double> formula_matrix() {
    testing::triplets entries;
    for (std::int64_t r = 0; r < 40; ++r)
        for (std::int64_t k = 0; k < 4; ++k)
            entries.emplace_back(r, (r * (k + 1) + k * k) % 25,
                                 static_cast<double>((7 * r + 5 * k) % 13 - 6) / 8 +
                                     (k == 0 ? 1 : 0));
    return rectangular_matrix(40, 25, entries);
}

std::vector<double> formula_rhs() {
    std::vector<double> b;
    for (int r = 0; r < 40; ++r) b.push_back(static_cast<double>((11 * r) % 17 - 8) / 4);
    return b;
}

/// Random with a strong diagonal: full rank.
csr_matrix<double> tall(std::int64_t m, std::int64_t n, std::uint64_t seed) {
    auto random = testing::random_rectangular(m, n, 3, seed);
    testing::triplets entries;
    for (std::int64_t i = 0; i < m; ++i) {
        for (auto k = random.row_offsets[static_cast<std::size_t>(i)];
             k < random.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
            entries.emplace_back(i, random.column_indices[static_cast<std::size_t>(k)],
                                 random.values[static_cast<std::size_t>(k)]);
        entries.emplace_back(i, i % n, 4.0);
    }
    return rectangular_matrix(m, n, entries);
}

std::vector<double> image(const csr_matrix<double>& a, const std::vector<double>& x) {
    const Eigen::VectorXd y = to_eigen(a) * to_eigen(x);
    return {y.data(), y.data() + y.size()};
}

} // namespace

// import numpy; from scipy.sparse import coo_matrix; from scipy.sparse.linalg import lsqr # 1.17.1
// for r in range(40): for k in range(4): i.append(r); j.append((r*(k+1)+k*k) % 25);
//     v.append(((7*r+5*k) % 13 - 6) / 8 + (k == 0))
// A = coo_matrix((v, (i, j)), shape=(40, 25)).tocsr(); b = [((11*r) % 17 - 8) / 4 for r in
// range(40)] lsqr(A, b, atol=0, btol=0, conlim=0, iter_lim=K) gives r1norm and arnorm after K
// iterations, and lsqr(A, b, atol=1e-10, btol=1e-10, conlim=0) x after 25.
KRYLITH_GROUP_TEST("lsqr: iterates and solution are those of SciPy") {
    struct after {
        int iterations;
        double residual, normal;
    };
    least_squares p(group, formula_matrix(), formula_rhs());
    for (const after& known : {after{1, 6.29049738344723, 3.76662907502151},
                               after{5, 5.4521033129814, 0.673627128706464},
                               after{10, 5.42171141748752, 0.0939954541002132},
                               after{20, 5.42109932353224, 5.68648855179226e-05}}) {
        const auto result = p.solve({.max_iterations = known.iterations});
        CAPTURE(known.iterations);
        CHECK(result.reason == reason::max_iterations);
        CHECK(result.iterations == known.iterations);
        CHECK(result.true_residual == doctest::Approx(known.residual).epsilon(1e-12));
        CHECK(result.recurrence_residual == doctest::Approx(known.residual).epsilon(1e-12));
        REQUIRE(result.normal.has_value());
        CHECK(result.normal->norm == doctest::Approx(known.normal).epsilon(1e-8));
    }
    const auto result = p.solve({.rtol = 1e-10});
    INFO(describe(result));
    CHECK(result.reason == reason::converged_rtol_normal);
    CHECK(result.iterations <= 25);
    CHECK(p.solution()[0] == doctest::Approx(-0.842235354871295).epsilon(1e-9));
    CHECK(p.solution()[12] == doctest::Approx(1.12376458642577).epsilon(1e-9));
    CHECK(result.true_residual == doctest::Approx(5.42109932335422).epsilon(1e-13));
    // ||A||_2 = 2.544
    CHECK(result.normal->matrix_norm <= 2.5441);
    CHECK(result.normal->matrix_norm >= 1.2);
}

KRYLITH_GROUP_TEST("lsqr: both residuals are those of the x returned, and judge it") {
    for (const operator_kind kind : testing::all_kinds()) {
        CAPTURE(std::string(to_string(kind)));
        const auto matrix = tall(61, 23, 7);
        least_squares p(group, matrix, random_values<double>(61, 3), {.kind = kind});
        const auto result = p.solve();
        INFO(describe(result));
        CHECK(result.reason == reason::converged_rtol_normal);
        CHECK(result.converged());
        CHECK(result.true_residual == doctest::Approx(p.residual()).epsilon(1e-12));
        CHECK(result.normal->relative <= 1e-8);
        CHECK(p.normal() <= 1.01e-8 * p.norm_of_a() * p.residual());
        CHECK(result.normal->matrix_norm <= 1.0000001 * p.norm_of_a());
        CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-7 * p.expected().norm());
        CHECK(testing::copies_agree(*p.x));
    }
}

KRYLITH_GROUP_TEST("lsqr: systems that have a solution end by the residual") {
    for (const auto& size : {std::pair<std::int64_t, std::int64_t>{50, 20}, {20, 50}, {30, 30}}) {
        const std::int64_t m = size.first;
        const std::int64_t n = size.second;
        CAPTURE(m);
        const auto matrix = m >= n ? tall(m, n, 9) : testing::plainly_transposed(tall(n, m, 9));
        least_squares p(group, matrix, image(matrix, random_values<double>(n, 4)));
        const auto result = p.solve({.rtol = 1e-10});
        INFO(describe(result));
        CHECK(result.reason == reason::converged_rtol);
        CHECK(p.residual() <= 1.01e-10 * p.b0.norm());
        // Of a wide matrix the shortest solution.
        CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-8 * p.expected().norm());
        testing::fill<double>(*p.x, NAN);
        CHECK(p.solve({.rtol = 0, .atol = 1e-3}).reason == reason::converged_atol);
    }
}

KRYLITH_GROUP_TEST("lsqr: fp32") {
    const auto matrix = tall(40, 15, 2);
    least_squares<float> p(group, matrix, random_values<double>(40, 3));
    const auto result = p.solve();
    INFO(describe(result));
    CHECK(result.reason == reason::converged_rtol_normal);
    CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-3 * p.expected().norm());
    least_squares<float> q(group, matrix, image(matrix, random_values<double>(15, 3)));
    CHECK(q.solve().reason == reason::converged_rtol);
}

// In fp32, with a condition beyond 1 / epsilon, a product gives an r whose rounding A'r is made of.
KRYLITH_GROUP_TEST("lsqr: a least residual is said of b - A x, not of its rounding") {
    testing::triplets entries;
    for (std::int64_t i = 0; i < 9; ++i)
        for (std::int64_t j = 0; j < 7; ++j)
            entries.emplace_back(i, j, static_cast<float>(1.0 / static_cast<double>(i + j + 1)));
    const auto hilbert = rectangular_matrix(9, 7, entries);
    int least = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const double d : {0.0, 1e-3, 0.1})
            for (const double size : {1.0, 1e6}) {
                auto rhs = random_values<double>(9, seed);
                for (double& value : rhs) value = static_cast<float>(size * value);
                least_squares<float> p(group, hilbert, rhs);
                const auto result = p.solve({.damping = d});
                CAPTURE(seed);
                CAPTURE(d);
                INFO(describe(result));
                if (result.reason != reason::converged_rtol_normal) continue;
                ++least;
                const auto x = to_eigen(p.solution());
                const Eigen::VectorXd r = p.b0 - p.dense * x;
                const double normal = (p.dense.transpose() * r - d * d * x).norm();
                const double residual = std::hypot(r.norm(), d * x.norm());
                CHECK(normal <= 1.1e-5 * std::hypot(p.dense.norm(), d * std::sqrt(7)) * residual);
                CHECK(result.true_residual == doctest::Approx(residual).epsilon(1e-5));
            }
    CHECK(least > 60);
}

KRYLITH_GROUP_TEST("lsqr: deficient rank, empty rows and columns") {
    // Columns 0 and 2 are equal, column 3 and rows 2 and 5 are empty.
    const auto matrix = rectangular_matrix(6, 4,
                                           {{0, 0, 1.0},
                                            {0, 2, 1.0},
                                            {1, 1, 2.0},
                                            {3, 0, -1.0},
                                            {3, 2, -1.0},
                                            {4, 1, 1.0},
                                            {4, 0, 3.0},
                                            {4, 2, 3.0}});
    least_squares p(group, matrix, {1, 2, 3, 4, 5, 6});
    const auto result = p.solve();
    INFO(describe(result));
    CHECK(result.reason == reason::converged_rtol_normal);
    CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-7);
}

KRYLITH_GROUP_TEST("lsqr: answers that need no iteration") {
    const auto matrix = tall(12, 5, 3);
    SUBCASE("b = 0") {
        least_squares p(group, matrix, std::vector<double>(12, 0));
        const auto result = p.solve();
        CHECK(result.reason == reason::converged_rtol);
        CHECK(result.iterations == 0);
        CHECK(p.solution() == std::vector<double>(5, 0));
        REQUIRE(result.normal.has_value());
        CHECK(result.normal->relative == 0);
    }
    SUBCASE("A = 0") {
        for (const auto& empty :
             {rectangular_matrix(7, 3, {}), rectangular_matrix(7, 3, {{1, 1, 0.0}, {4, 0, 0.0}})}) {
            least_squares p(group, empty, std::vector<double>(7, 2.0));
            const auto result = p.solve();
            INFO(describe(result));
            CHECK(result.reason == reason::converged_rtol_normal);
            CHECK(result.iterations == 0);
            CHECK(result.true_residual == doctest::Approx(2 * std::sqrt(7.0)));
            CHECK(p.solution() == std::vector<double>(3, 0));
        }
    }
    SUBCASE("b orthogonal to the range") {
        least_squares p(group, rectangular_matrix(3, 1, {{0, 0, 1.0}, {1, 0, 1.0}}), {1, -1, 5});
        const auto result = p.solve();
        CHECK(result.reason == reason::converged_rtol_normal);
        CHECK(result.iterations == 0);
        CHECK(p.solution() == std::vector<double>(1, 0));
    }
    SUBCASE("no columns, no rows, nothing") {
        for (const auto& size : {std::pair<std::int64_t, std::int64_t>{4, 0}, {0, 4}, {0, 0}}) {
            const std::int64_t m = size.first;
            const std::int64_t n = size.second;
            CAPTURE(m);
            least_squares p(group, rectangular_matrix(m, n, {}),
                            std::vector<double>(static_cast<std::size_t>(m), 1.0));
            const auto result = p.solve();
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(result.iterations == 0);
            CHECK(p.solution() == std::vector<double>(static_cast<std::size_t>(n), 0.0));
        }
    }
    SUBCASE("the exact x0") {
        const auto x0 = random_values<double>(5, 1);
        least_squares p(group, matrix, image(matrix, x0));
        p.x->upload(x0);
        const auto result = p.solve({.initial_guess = true});
        CHECK(result.reason == reason::converged_rtol);
        CHECK(result.iterations == 0);
        CHECK(p.solution() == x0);
    }
}

KRYLITH_GROUP_TEST("lsqr: 1 x 1, one row, one column, more devices than rows") {
    const auto solves = [&](const csr_matrix<double>& matrix, const std::vector<double>& b) {
        least_squares p(group, matrix, b);
        const auto result = p.solve();
        INFO(describe(result));
        CHECK(result.converged());
        CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-12 * p.expected().norm());
    };
    solves(rectangular_matrix(1, 1, {{0, 0, 4.0}}), {2});
    solves(rectangular_matrix(1, 3, {{0, 0, 1.0}, {0, 1, 2.0}, {0, 2, -2.0}}), {9});
    solves(rectangular_matrix(3, 1, {{0, 0, 1.0}, {1, 0, 2.0}, {2, 0, -2.0}}), {1, 1, 1});
    solves(tall(3, 2, 5), {1, 2, 3});
}

KRYLITH_GROUP_TEST("lsqr: an initial guess, and the same bits in every way to run") {
    const auto matrix = tall(80, 31, 8);
    const auto b = random_values<double>(80, 5);
    const auto x0 = random_values<double>(31, 6);
    least_squares p(group, matrix, b);
    p.x->upload(x0);
    const auto from = p.solve({.initial_guess = true});
    INFO(describe(from));
    CHECK(from.reason == reason::converged_rtol_normal);
    CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-7 * p.expected().norm());
    // The solution as a guess takes at most an iteration or two.
    const auto again = p.solve({.initial_guess = true});
    CHECK(again.converged());
    CHECK(again.iterations <= 2);
    for (const auto mode : testing::modes_of(group)) {
        least_squares q(group, matrix, b);
        const auto first = q.solve({.mode = mode});
        CHECK(first.recorded == (mode == execution_mode::recorded));
        const auto bits = q.solution();
        testing::fill<double>(*q.x, NAN);
        const auto second = q.solve({.mode = mode}); // with the workspace that is kept
        CHECK(second.iterations == first.iterations);
        CHECK(same_bits(q.solution(), bits));
        least_squares other(group, matrix, b);
        const auto told = other.solve({.history = true, .mode = mode});
        CHECK(same_bits(other.solution(), bits));
        REQUIRE(told.history.size() == static_cast<std::size_t>(told.iterations) + 1);
        CHECK(std::ranges::is_sorted(told.history, std::greater<>()));
        CHECK(told.history.back() == told.recurrence_residual);
    }
}

KRYLITH_GROUP_TEST("lsqr: a solver keeps its workspace through new values and other b") {
    const auto matrix = tall(60, 20, 8);
    auto second = matrix;
    for (double& value : second.values) value *= 0.75;
    second.values[3] += 0.5;
    least_squares p(group, matrix, random_values<double>(60, 5));
    lsqr_solver solver(*p.a);
    CHECK(solver(*p.b, *p.x).converged());
    p.a->update(second.values);
    CHECK(solver(*p.b, *p.x).converged());
    least_squares q(group, second, random_values<double>(60, 5));
    CHECK((to_eigen(p.solution()) - q.expected()).norm() <= 1e-7 * q.expected().norm());
    solver.options().rtol_normal = 1e-3;
    const auto loose = solver(*p.b, *p.x);
    CHECK(loose.converged());
    CHECK(loose.normal->relative > 1e-7);
    CHECK(loose.normal->relative <= 1e-3);
}

KRYLITH_GROUP_TEST("lsqr: extreme entries change only exponents") {
    const auto matrix = tall(40, 13, 8);
    const auto b = random_values<double>(40, 5);
    least_squares p(group, matrix, b);
    const auto plain = p.solve();
    const auto solution = p.solution();
    for (const int exponent : {-700, 500, 900}) {
        CAPTURE(exponent);
        auto scaled = matrix;
        for (double& value : scaled.values) value = std::ldexp(value, exponent);
        auto rhs = b;
        for (double& value : rhs) value = std::ldexp(value, exponent + 20);
        least_squares q(group, scaled, rhs);
        const auto result = q.solve();
        INFO(describe(result));
        CHECK(result.reason == reason::converged_rtol_normal);
        CHECK(result.iterations == plain.iterations);
        auto x = q.solution();
        for (double& value : x) value = std::ldexp(value, -20);
        CHECK((to_eigen(x) - to_eigen(solution)).norm() <= 1e-12 * p.expected().norm());
        CHECK(result.normal->relative <= 1e-8);
        CHECK(std::ldexp(result.normal->matrix_norm, -exponent) ==
              doctest::Approx(plain.normal->matrix_norm));
    }
}

/// What damping by d is to find: the least squares solution of A with d I below it, by its normal
/// equations, and by QR, which is more accurate for a small d.
struct damped_problem {
    damped_problem(const least_squares<>& p, double d) {
        const Eigen::Index n = p.dense.cols();
        const Eigen::MatrixXd shift = d * Eigen::MatrixXd::Identity(n, n);
        const Eigen::MatrixXd square = p.dense.transpose() * p.dense + d * shift;
        by_normal_equations = square.ldlt().solve(p.dense.transpose() * p.b0);
        matrix.resize(p.dense.rows() + n, n);
        matrix << p.dense, shift;
        rhs = Eigen::VectorXd::Zero(matrix.rows());
        rhs.head(p.b0.size()) = p.b0;
        by_qr = matrix.colPivHouseholderQr().solve(rhs);
    }

    Eigen::VectorXd by_normal_equations;
    Eigen::MatrixXd matrix;
    Eigen::VectorXd rhs;
    Eigen::VectorXd by_qr;
};

void check_damped(const solve_result& result, const least_squares<>& p,
                  const damped_problem& expected) {
    INFO(describe(result));
    CHECK(result.converged());
    const Eigen::VectorXd x = to_eigen(p.solution());
    CHECK((x - expected.by_qr).norm() <= 1e-7 * expected.by_qr.norm());
    CHECK((x - expected.by_normal_equations).norm() <= 1e-7 * expected.by_qr.norm());
    const Eigen::VectorXd r = expected.rhs - expected.matrix * x;
    CHECK(result.true_residual == doctest::Approx(r.norm()).epsilon(1e-10));
    REQUIRE(result.normal);
    const double normal = (expected.matrix.transpose() * r).norm();
    const double rounding = 1e-14 * expected.matrix.norm() * r.norm();
    CHECK(std::abs(result.normal->norm - normal) <= rounding);
    CHECK(result.normal->relative <= 1e-10);
}

KRYLITH_GROUP_TEST("lsqr: damping is d times the identity below A") {
    for (const auto& size : {std::pair<std::int64_t, std::int64_t>{61, 23}, {23, 61}, {30, 30}}) {
        const std::int64_t m = size.first;
        const std::int64_t n = size.second;
        CAPTURE(m);
        const auto matrix = m >= n ? tall(m, n, 7) : testing::plainly_transposed(tall(n, m, 7));
        for (const operator_kind kind : {operators::halo, operators::nz}) {
            least_squares p(group, matrix, random_values<double>(m, 3), {.kind = kind});
            for (const double d : {0.1, 0.5, 40.0}) { // one workspace serves all
                CAPTURE(d);
                const damped_problem expected(p, d);
                const solver_options options{.rtol = 1e-10, .damping = d};
                check_damped(p.solve(options), p, expected);
                auto from = options;
                from.initial_guess = true;
                CHECK(p.solve(from).iterations <= 2);
                p.x->upload(random_values<double>(n, 9));
                check_damped(p.solve(from), p, expected);
                for (const auto mode : testing::modes_of(group)) {
                    auto how = options;
                    how.mode = mode;
                    check_damped(p.solve(how), p, expected);
                }
                CHECK(p.solve({.rtol = 1e-10}).converged()); // which takes another workspace
                CHECK((to_eigen(p.solution()) - p.expected()).norm() <= 1e-6 * p.expected().norm());
            }
        }
    }
}

KRYLITH_GROUP_TEST("lsqr: damping takes part in the scaling of extreme entries") {
    const auto matrix = tall(40, 13, 8);
    const auto b = random_values<double>(40, 5);
    least_squares p(group, matrix, b);
    const auto plain = p.solve({.damping = 2});
    const auto solution = p.solution();
    for (const int exponent : {-480, 450}) {
        CAPTURE(exponent);
        auto scaled = matrix;
        for (double& value : scaled.values) value = std::ldexp(value, exponent);
        auto rhs = b;
        for (double& value : rhs) value = std::ldexp(value, exponent + 20);
        least_squares q(group, scaled, rhs);
        const auto result = q.solve({.damping = std::ldexp(2.0, exponent)});
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(std::abs(result.iterations - plain.iterations) <= 1);
        auto x = q.solution();
        for (double& value : x) value = std::ldexp(value, -20);
        CHECK((to_eigen(x) - to_eigen(solution)).norm() <= 1e-7 * to_eigen(solution).norm());
    }
}

KRYLITH_GROUP_TEST("lsqr: callbacks, stops and limits") {
    const auto matrix = tall(200, 90, 4);
    const auto b = random_values<double>(200, 5);
    least_squares p(group, matrix, b);
    std::vector<std::int64_t> told;
    const auto watched =
        p.solve({.callback = [&](const progress& now) { told.push_back(now.iteration); },
                 .callback_interval = 3});
    CHECK(watched.reason == reason::converged_rtol_normal);
    REQUIRE(told.size() >= 3);
    CHECK(told.front() == 0);
    CHECK(told[1] == 3);
    CHECK(told.back() == watched.iterations);
    const auto stopped =
        p.solve({.callback =
                     [](const progress& now) {
                         return now.iteration >= 4 ? next_step::stop : next_step::go;
                     },
                 .callback_interval = 2,
                 .callback_pauses = true});
    CHECK(stopped.reason == reason::stopped_by_user);
    CHECK(stopped.iterations == 4);
    CHECK(stopped.true_residual == doctest::Approx(p.residual()));
    CHECK(p.solve({.max_seconds = 0}).reason == reason::time_limit);
    std::stop_source source;
    source.request_stop();
    CHECK(p.solve({.stop = source.get_token()}).reason == reason::interrupted);
    const auto only_checked = p.solve({.max_iterations = 0});
    CHECK(only_checked.reason == reason::max_iterations);
    CHECK(only_checked.true_residual == doctest::Approx(p.b0.norm()));
}

KRYLITH_GROUP_TEST("lsqr: what rounding doesn't allow ends as stagnated, with both residuals") {
    least_squares p(group, tall(60, 20, 8), random_values<double>(60, 5));
    const auto result = p.solve({.rtol = 0, .rtol_normal = 0});
    INFO(describe(result));
    CHECK(result.reason == reason::stagnated);
    CHECK(result.normal->relative <= 1e-13);
    CHECK(result.diagnosis.find("||A'(b - A x)||") != std::string::npos);
}

KRYLITH_GROUP_TEST("lsqr: NaN in b and in A") {
    const auto matrix = tall(20, 8, 8);
    auto b = random_values<double>(20, 5);
    b[7] = NAN;
    least_squares p(group, matrix, b);
    CHECK(p.solve().reason == reason::not_a_number);
    auto bad = matrix;
    bad.values[5] = std::numeric_limits<double>::infinity();
    least_squares q(group, bad, random_values<double>(20, 5));
    CHECK(q.solve().reason == reason::not_a_number);
}

KRYLITH_GROUP_TEST("lsqr: square systems, by the table, as gmres solves them") {
    const auto matrix = poisson2d<double>(9, 8);
    const auto b = random_values<double>(72, 5);
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        least_squares p(group, matrix, b, {.kind = kind});
        const auto result = find_solver("lsqr").solve(*p.a, *p.b, *p.x);
        INFO(describe(result));
        CHECK(result.reason == reason::converged_rtol);
        CHECK(p.residual() <= 1.01e-8 * p.b0.norm());
    }
    least_squares ordered(group, matrix, b, {.kind = operators::halo, .order = orders::rcm});
    CHECK(ordered.solve().converged());
    CHECK(ordered.residual() <= 1.01e-8 * ordered.b0.norm());
}

KRYLITH_GROUP_TEST("lsqr: what it can't take is refused by name") {
    const auto matrix = poisson2d<double>(5, 4);
    const auto without = make_operator(group, matrix);
    auto b = without->make_range_vector();
    auto x = without->make_range_vector();
    CHECK_THROWS_WITH_AS((void)lsqr(*without, b, x), doctest::Contains("transposed_products"),
                         usage_error);
    least_squares p(group, matrix, std::vector<double>(20, 1));
    CHECK_THROWS_WITH_AS((void)lsqr(*p.a, *p.b, *p.x, {}, jacobi<double>(*p.a, matrix)),
                         doctest::Contains("takes no preconditioner, and was given jacobi"),
                         usage_error);
    least_squares q(group, tall(9, 4, 1), std::vector<double>(9, 1));
    CHECK_THROWS_WITH_AS((void)lsqr(*q.a, *q.x, *q.b), doctest::Contains("vectors of its operator"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)q.solve({.rtol_normal = 1}), doctest::Contains("rtol_normal"),
                         usage_error);
}

KRYLITH_GROUP_TEST("lsqr: refused memory leaves nothing behind") {
    least_squares p(group, tall(30, 12, 1), random_values<double>(30, 1));
    p.a->release_workspace();
    const auto before = testing::live_bytes(group);
    for (int k = 0;; ++k) {
        testing::short_memory memory(group, k);
        try {
            CHECK(p.solve().converged());
        } catch (const device_error&) {
            CHECK(testing::live_bytes(group) == before);
            continue;
        }
        CHECK(memory.count() <= k);
        break;
    }
    p.a->release_workspace();
    CHECK(testing::live_bytes(group) == before);
}

} // namespace krylith
