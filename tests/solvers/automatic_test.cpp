// solve(): what is chosen, that the next method goes on where one fails, and the edges.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/operator_facts.hpp>

#include <krylith/tests/solvers/automatic/attempts.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::diagonal_matrix;
using testing::from_dense;
using testing::laplace_1d;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::rotations;
using testing::tried;
using testing::values_of;

namespace {

/// [D B; B' 0] with a dominant D: symmetric, indefinite, with zeros on the diagonal.
csr_matrix<double> saddle_point(std::int64_t n, std::int64_t constraints) {
    testing::triplets entries;
    for (std::int64_t i = 0; i < n; ++i)
        entries.emplace_back(i, i, 2.0 + static_cast<double>(i % 3));
    for (std::int64_t c = 0; c < constraints; ++c)
        for (std::int64_t k = 0; k < 3; ++k) {
            const std::int64_t i = (7 * c + 5 * k) % n;
            entries.emplace_back(n + c, i, 1.0 + static_cast<double>(k));
            entries.emplace_back(i, n + c, 1.0 + static_cast<double>(k));
        }
    return testing::from_triplets(n + constraints, entries);
}

} // namespace

KRYLITH_GROUP_TEST("auto: the method follows from the matrix, on any devices") {
    const auto even = poisson2d<double>(14, 13);
    const auto uneven = poisson2d<double>(14, 13, random_scaling{5});
    const auto flow = convection_diffusion<double>(8, 20);
    for (const auto kind : testing::different_operators()) {
        CAPTURE(name_of(kind));
        const auto run = [&](const csr_matrix<double>& matrix) {
            problem<double> p(group, matrix, random_values<double>(matrix.rows, 300),
                              {.kind = kind});
            const auto result = solve(*p.a, p.b, p.x);
            INFO(testing::describe(result));
            CHECK(result.converged());
            CHECK(p.relative_residual() <= 1.01e-8);
            CHECK(result.attempts.back().reason == result.reason);
            CHECK(result.attempts.back().iterations == result.iterations);
            return tried(result);
        };
        CHECK(run(even) == "cg");
        CHECK(run(uneven) == "cg+jacobi");
        CHECK(run(flow) == "bicgstab");
        CHECK(run(rotations(20)).starts_with("bicgstab gmres"));
    }
}

KRYLITH_GROUP_TEST("auto: the bits are those of the method by name") {
    const auto matrix = poisson2d<double>(14, 13, random_scaling{5});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 301));
    const auto chosen = solve(*p.a, p.b, p.x);
    const auto found = p.solution();
    const auto named = cg(*p.a, p.b, p.x, {}, jacobi<double>(*p.a));
    CHECK(testing::same_bits(found, p.solution()));
    CHECK(chosen.iterations == named.iterations);
    CHECK(named.attempts.empty());
}

// Symmetric, with a positive diagonal and x'A x > 0 for almost every x; the one negative
// eigenvalue is for CG to find.
KRYLITH_GROUP_TEST("auto: where cg finds the matrix indefinite the next method goes on") {
    auto matrix = laplace_1d(200);
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i) + 1]); ++k)
            if (matrix.column_indices[k] == i) matrix.values[k] -= 0.0015;
    problem<double> p(group, matrix, std::vector<double>(200, 1));
    const auto result = solve(*p.a, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(result.attempts.size() >= 2);
    CHECK(result.attempts[0].solver == "cg");
    CHECK(result.attempts[0].reason == reason::indefinite_matrix);
    CHECK(result.attempts[0].because == "symmetric, positive diagonal constant");
    CHECK(result.best_attempt() == &result.attempts.back());
}

KRYLITH_GROUP_TEST("auto: saddle points, which have zeros on the diagonal") {
    const auto matrix = saddle_point(60, 20);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 302));
    const auto result = solve(*p.a, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    for (const auto& attempt : result.attempts) CHECK(attempt.preconditioner == "none");
}

// What facts can't see: an asymmetry below their tolerance, and one that is above it but spoils
// nothing.
KRYLITH_GROUP_TEST("auto: a hidden asymmetry does no harm") {
    for (const double by : {1e-12, 1e-6, 1e-2}) {
        CAPTURE(by);
        auto matrix = poisson2d<double>(20, 20, random_scaling{6});
        auto k = static_cast<std::size_t>(matrix.row_offsets[57]);
        if (matrix.column_indices[k] == 57) ++k;
        matrix.values[k] *= 1 + by;
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 303));
        const auto result = solve(*p.a, p.b, p.x);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1.01e-8);
        CHECK(result.attempts[0].solver == (by < 1e-9 ? "cg" : "bicgstab"));
    }
}

KRYLITH_GROUP_TEST("auto: facts that have gone stale cost an attempt, not the solution") {
    auto matrix = poisson2d<double>(12, 12, random_scaling{7});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 304));
    const auto good = facts_of(*p.a);
    for (std::size_t k = 0; k < matrix.values.size(); ++k)
        if (matrix.values[k] < 0 && k % 3 == 0)
            matrix.values[k] *= -40; // neither SPD nor symmetric
    p.a->update(matrix.values);
    p.a->kept().facts = std::make_shared<const operator_facts>(good);
    const auto result = solve(*p.a, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.attempts.size() > 1);
    CHECK(testing::residual_norm(matrix, values_of(p.b), p.solution()) <=
          1.01e-8 * testing::norm(values_of(p.b)));
}

KRYLITH_GROUP_TEST("auto: a singular system ends with its nearest x and a diagnosis") {
    // A vector of alternating 1 and 2 is in the null space, and b isn't orthogonal to it.
    auto matrix = laplace_1d(30);
    matrix.values.front() = matrix.values.back() = 1;
    for (std::int64_t row = 0; row < 30; ++row)
        for (auto k = matrix.row_offsets[as_size(row)]; k < matrix.row_offsets[as_size(row + 1)];
             ++k)
            matrix.values[as_size(k)] *=
                static_cast<double>((2 - row % 2) * (2 - matrix.column_indices[as_size(k)] % 2));
    problem<double> p(group, matrix, std::vector<double>(30, 1));
    const auto result = solve(*p.a, p.b, p.x);
    CHECK_FALSE(result.converged());
    CHECK(result.attempts.size() > 1);
    CHECK(result.diagnosis.find("methods converged") != std::string::npos);
    for (const auto& attempt : result.attempts)
        CHECK_FALSE(attempt.relative_residual < result.relative_residual());
    CHECK(p.relative_residual() == doctest::Approx(result.relative_residual()).epsilon(1e-6));
    CHECK_THROWS_AS((void)solve(*p.a, p.b, p.x, {.on_failure = failure_policy::throw_error}),
                    not_converged);
    // With a b in the range there is a solution.
    std::vector<double> zigzag(30);
    for (std::size_t i = 0; i < 30; ++i) zigzag[i] = i % 2 == 0 ? 2 : -1;
    problem<double> q(group, matrix, zigzag);
    CHECK(solve(*q.a, q.b, q.x).converged());
}

KRYLITH_GROUP_TEST("auto: no rows, one row, b = 0, a matrix of zeros, a NaN") {
    problem<double> none(group, testing::from_triplets(0, {}), {});
    CHECK(solve(*none.a, none.b, none.x).converged());
    problem<double> one(group, diagonal_matrix({-4}), {8});
    CHECK(solve(*one.a, one.b, one.x).converged());
    CHECK(one.solution() == std::vector<double>{-2});
    problem<double> zero(group, laplace_1d(20), std::vector<double>(20));
    const auto at_once = solve(*zero.a, zero.b, zero.x);
    CHECK(at_once.converged());
    CHECK(at_once.iterations == 0);
    CHECK(zero.solution() == std::vector<double>(20));
    problem<double> empty(group, testing::from_triplets(9, {}), std::vector<double>(9, 1));
    CHECK_FALSE(solve(*empty.a, empty.b, empty.x).converged());
    problem<double> bad(group, laplace_1d(20), std::vector<double>(20, NAN));
    const auto refused = solve(*bad.a, bad.b, bad.x);
    CHECK(refused.reason == reason::not_a_number);
    CHECK(refused.attempts.size() == 1); // no method can do anything about it
    problem<double> worse(group, from_dense({{1, NAN}, {2, 1}}), {1, 1});
    CHECK_FALSE(solve(*worse.a, worse.b, worse.x).converged());
}

KRYLITH_GROUP_TEST("auto: fp32") {
    const auto uneven = testing::converted<float>(poisson2d<double>(14, 13, random_scaling{5}));
    problem<float> p(group, uneven, random_values<float>(uneven.rows, 305));
    const auto spd = solve(*p.a, p.b, p.x);
    CHECK(spd.converged());
    CHECK(tried(spd) == "cg+jacobi");
    const auto flow = testing::converted<float>(convection_diffusion<double>(8, 20));
    problem<float> q(group, flow, random_values<float>(flow.rows, 306));
    const auto general = solve(*q.a, q.b, q.x);
    CHECK(general.converged());
    CHECK(tried(general) == "bicgstab");
}

KRYLITH_GROUP_TEST("auto: starts from x where asked, also after a failure, and b may be x") {
    const auto matrix = rotations(20); // bicgstab breaks down at once
    const auto exact = random_values<double>(matrix.rows, 307);
    std::vector<double> b(exact.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
        const auto k = static_cast<std::size_t>(matrix.row_offsets[i]);
        b[i] = matrix.values[k] * exact[static_cast<std::size_t>(matrix.column_indices[k])];
    }
    problem<double> p(group, matrix, b);
    p.x.upload(exact);
    const auto there = solve(*p.a, p.b, p.x, {.initial_guess = true});
    CHECK(there.converged());
    CHECK(there.iterations == 0);
    auto near = exact;
    near[3] += 1e-3;
    p.x.upload(near);
    const auto close = solve(*p.a, p.b, p.x, {.initial_guess = true});
    CHECK(close.converged());
    CHECK(close.attempts.back().solver == "gmres");
    CHECK(close.iterations <= 4);                     // one pair of rows differs
    p.x.upload(std::vector<double>(b.size(), 1e250)); // its residual overflows
    CHECK(solve(*p.a, p.b, p.x, {.initial_guess = true}).converged());
    p.x.upload(b);
    CHECK(solve(*p.a, p.x, p.x).converged());
    CHECK(p.relative_residual() <= 1.01e-8);
}

KRYLITH_GROUP_TEST("auto: max_iterations limits all attempts together") {
    const auto matrix = rotations(50);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 308));
    for (const std::int64_t most : {0, 1, 7}) {
        const auto result = solve(*p.a, p.b, p.x, {.max_iterations = most});
        CHECK_FALSE(result.converged());
        std::int64_t all = 0;
        for (const auto& attempt : result.attempts) all += attempt.iterations;
        CHECK(all <= most);
    }
    std::int64_t last = 0;
    const auto watched = solve(*p.a, p.b, p.x,
                               {.callback =
                                    [&](const progress& now) {
                                        CHECK(now.iteration >= last);
                                        last = now.iteration;
                                    },
                                .callback_interval = 1});
    CHECK(watched.converged());
}

KRYLITH_GROUP_TEST("auto: its preconditioner stays with the operator, and takes new values") {
    auto matrix = poisson2d<double>(14, 13, random_scaling{5});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 311));
    const auto first = solve(*p.a, p.b, p.x);
    const auto found = p.solution();
    const auto kept = p.a->kept().preconditioner;
    CHECK(kept != nullptr);
    const auto second = solve(*p.a, p.b, p.x);
    CHECK(testing::same_bits(found, p.solution()));
    CHECK(p.a->kept().preconditioner == kept);
    matrix = poisson2d<double>(14, 13, random_scaling{9});
    p.a->update(matrix.values);
    const auto updated = solve(*p.a, p.b, p.x);
    CHECK(p.a->kept().preconditioner == kept);
    problem<double> q(group, matrix, values_of(p.b));
    const auto fresh = solve(*q.a, q.b, q.x);
    CHECK(testing::same_bits(q.solution(), p.solution()));
    CHECK(updated.iterations == fresh.iterations);
    p.a->release_workspace();
    CHECK(p.a->kept().preconditioner == nullptr);
    CHECK(first.converged());
    CHECK(second.converged());
}

// CG alone needs as many iterations as there are rows.
KRYLITH_GROUP_TEST("auto: multigrid comes next where cg takes too long, and first the next time") {
    auto matrix = laplace_1d(2500);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 313));
    const auto first = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(first));
    CHECK(first.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(first.attempts.size() == 2);
    CHECK(first.attempts[0].preconditioner == "none");
    CHECK(first.attempts[0].reason == reason::max_iterations);
    CHECK(first.attempts[0].iterations < 600); // half-way to 1000
    CHECK(first.attempts[1].preconditioner.starts_with("amg"));
    CHECK(first.attempts[1].because == "in case that takes too long");
    for (double& v : matrix.values) v *= 2;
    p.a->update(matrix.values);
    const auto second = solve(*p.a, matrix, p.b, p.x);
    CHECK(second.converged());
    REQUIRE(second.attempts.size() == 1);
    CHECK(second.attempts[0].preconditioner.starts_with("amg"));
    CHECK(second.attempts[0].because == "it solved the last system");
    CHECK(testing::residual_norm(matrix, values_of(p.b), p.solution()) <=
          1.01e-8 * testing::norm(values_of(p.b)));
}

KRYLITH_GROUP_TEST("auto: where cg proves that the matrix isn't definite, multigrid isn't made") {
    auto matrix = laplace_1d(200);
    for (double& v : matrix.values)
        if (v > 0) v -= 0.0015;
    problem<double> p(group, matrix, std::vector<double>(200, 1));
    const auto result = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    REQUIRE(result.attempts.size() >= 2);
    CHECK(result.attempts[0].reason == reason::indefinite_matrix);
    CHECK(result.attempts[1].solver != "cg");
}

// Devices whose memory ends where multigrid's begins.
KRYLITH_GROUP_TEST("auto: a preconditioner that can't be made is named, and the next is tried") {
    const auto matrix = laplace_1d(2500);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 314));
    (void)facts_of(*p.a);
    for (int rank = 0; rank < group.size(); ++rank)
        p.a->comm()[rank].ledger().set_guard([](const std::string& item, std::size_t, std::size_t) {
            if (item == "preconditioner") throw device_error("refused: " + item);
        });
    const auto result = solve(*p.a, matrix, p.b, p.x);
    for (int rank = 0; rank < group.size(); ++rank) p.a->comm()[rank].ledger().set_guard({});
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(result.attempts.size() == 5);
    CHECK(result.attempts[1].preconditioner == "amg");
    CHECK(result.attempts[1].refused == "refused: preconditioner");
    CHECK(result.attempts[1].iterations == 0);
    CHECK(result.attempts[2].preconditioner == "amg");
    CHECK(result.attempts[2].because == "in case amg was too weak");
    CHECK(result.attempts[3].preconditioner == "fsai");
    CHECK(result.attempts[3].because == "in case amg is no help");
    CHECK(result.attempts[3].refused == "refused: preconditioner");
    CHECK(result.attempts[4].because == "in case fsai is no help");
    CHECK(result.attempts[4].refused.empty());
    CHECK(result.best_attempt() == &result.attempts[4]);
}

/// A nilpotent matrix: multiples of x_i+1 in row i, and nothing in the last one. Unless b is
/// special no Krylov space of A and b has a solution.
KRYLITH_GROUP_TEST("auto: a singular system is solved where b is in the range of A, if by lsqr") {
    testing::triplets entries;
    for (std::int64_t i = 0; i + 1 < 40; ++i)
        entries.emplace_back(i, i + 1, 1.0 + static_cast<double>(i % 3));
    const auto matrix = testing::from_triplets(40, entries);
    for (const bool in_host_memory : {false, true})
        for (const double outside : {0.0, 3.0}) {
            CAPTURE(in_host_memory);
            CAPTURE(outside);
            auto rhs = random_values<double>(40, 315);
            rhs.back() = outside;
            problem<double> p(group, matrix, rhs, {.transposed_products = !in_host_memory});
            const solve_result result =
                in_host_memory ? solve(*p.a, matrix, p.b, p.x) : solve(*p.a, p.b, p.x);
            INFO(testing::describe(result));
            CHECK(result.converged() == (outside == 0));
            CHECK(std::abs(result.true_residual - outside) <= 1e-7);
            if (outside == 0 && in_host_memory) continue; // ilut may do, too
            CHECK(result.attempts.back().solver == "lsqr");
            CHECK(result.attempts.back().because == "in case A is singular");
            if (outside == 0) continue;
            CHECK(result.diagnosis.find("this x has the least residual") != std::string::npos);
            CHECK(values_of(p.x)[0] == doctest::Approx(0)); // the shortest such x
        }
}

KRYLITH_GROUP_TEST("auto: an x of least residual is no solution, where A' r is 0 exactly, either") {
    // x_2 = b_1 and x_3 = b_2, which some of these b give without a rounding.
    const auto matrix = testing::from_triplets(3, {{0, 1, 1.0}, {1, 2, 1.0}});
    for (int k = 1; k <= 16; ++k) {
        CAPTURE(k);
        problem<double> p(group, matrix, {static_cast<double>(k), 2.0, 4.0},
                          {.transposed_products = true});
        const solve_result result = solve(*p.a, p.b, p.x);
        INFO(testing::describe(result));
        CHECK_FALSE(result.converged());
        CHECK(result.true_residual == doctest::Approx(4));
        CHECK(result.diagnosis.find("this x has the least residual") != std::string::npos);
    }
}

KRYLITH_GROUP_TEST("auto: stops where it is told to, and tries nothing more") {
    const auto matrix = saddle_point(60, 20);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 312));
    const auto stopped =
        solve(*p.a, p.b, p.x, {.callback = [](const progress&) { return next_step::stop; }});
    CHECK(stopped.reason == reason::stopped_by_user);
    CHECK(stopped.attempts.size() == 1);
    const auto late = solve(*p.a, p.b, p.x, {.max_seconds = 0});
    CHECK(late.reason == reason::time_limit);
    CHECK(late.attempts.size() == 1);
}

KRYLITH_GROUP_TEST("auto: with a preconditioner that is given, or none") {
    const auto matrix = poisson2d<double>(14, 13, random_scaling{5});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 309));
    CHECK(tried(solve(*p.a, p.b, p.x, {}, any_preconditioner<double>())) == "cg");
    const jacobi<double> m(*p.a);
    CHECK(tried(solve(*p.a, p.b, p.x, {}, std::cref(m))) == "cg+jacobi");
    CHECK(tried(find_solver("auto").solve(*p.a, p.b, p.x)) == "cg+jacobi");
    CHECK(tried(find_solver("auto").solve(
              *p.a, p.b, p.x, {}, any_preconditioner<double>(std::cref(m)))) == "cg+jacobi");
}

KRYLITH_GROUP_TEST("auto: what can't be split is put on the right where split is asked for") {
    const auto negative = from_dense({{-200, 1, 0}, {0, 4, 1}, {1, 0, 3}});
    const auto mixed = make_gallery<double>("convection_diffusion:12:50:random=2");
    for (const auto& matrix : {negative, mixed})
        for (const side on : {side::left, side::right, side::split}) {
            CAPTURE(to_string(on));
            problem<double> p(group, matrix, random_values<double>(matrix.rows, 31));
            for (const bool with_matrix : {false, true}) {
                const solver_options options{.preconditioning = on};
                const auto result = with_matrix ? solve(*p.a, matrix, p.b, p.x, options)
                                                : solve(*p.a, p.b, p.x, options);
                INFO(testing::describe(result));
                CHECK(result.converged());
                CHECK(p.relative_residual() <= 1.01e-8);
            }
        }
}

KRYLITH_GROUP_TEST("auto: from arrays in host memory to the answer") {
    const auto matrix = poisson2d<double>(14, 13, random_scaling{5});
    const auto b = random_values<double>(matrix.rows, 310);
    std::vector<double> x(b.size());
    const auto result = solve(group, matrix, b, x);
    CHECK(result.converged());
    CHECK(testing::residual_norm(matrix, b, x) <= 1.01e-8 * testing::norm(b));
    const auto again = solve(group, csr_view<double>(matrix), b, x, {.initial_guess = true});
    CHECK(again.iterations == 0);
    x.pop_back();
    CHECK_THROWS_WITH_AS((void)solve(group, matrix, b, x),
                         "solve: x has 181 entries, must have 182, one a column", usage_error);
}

/// A line through (0, 1), (1, 3), (2, 4), (3, 8): x = (0.7, 2.2), ||b - A x||^2 = 1.8.
KRYLITH_GROUP_TEST("auto: a matrix that is not square is solved by least squares") {
    const csr_matrix<double> line{
        4, 2, {0, 1, 3, 5, 7}, {0, 0, 1, 0, 1, 0, 1}, {1, 1, 1, 1, 2, 1, 3}};
    const std::vector<double> b{1, 3, 4, 8};
    const auto fits = [](const std::vector<double>& x) {
        CHECK(x[0] == doctest::Approx(0.7));
        CHECK(x[1] == doctest::Approx(2.2));
    };
    std::vector<double> x(2);
    const auto result = solve(group, line, b, x);
    CHECK(result.reason == reason::converged_rtol_normal);
    CHECK(tried(result) == "lsqr");
    CHECK(result.attempts.front().because == "the matrix is not square");
    fits(x);
    CHECK(solve(group, line, b, x, {.initial_guess = true}).iterations <= 1);
    const csr_matrix<double> wide{1, 2, {0, 2}, {0, 1}, {3, 4}};
    CHECK(solve(group, wide, std::vector<double>{25}, x).converged());
    CHECK(x[0] == doctest::Approx(3)); // the shortest of the solutions
    CHECK(x[1] == doctest::Approx(4));
    for (const operator_kind kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, line, {.kind = kind, .transposed_products = true});
        auto rhs = a->make_range_vector();
        rhs.upload(b);
        vector<double> solution(a->domain_layout());
        CHECK(solve(*a, rhs, solution).converged());
        fits(values_of(solution));
        CHECK(solve(*a, line, rhs, solution).converged());
        CHECK(find_solver("auto").solve(*a, rhs, solution).converged());
        const auto plain = make_operator(group, line, {.kind = kind});
        auto rhs2 = plain->make_range_vector();
        vector<double> solution2(plain->domain_layout());
        CHECK_THROWS_WITH_AS((void)solve(*plain, rhs2, solution2),
                             doctest::Contains("transposed_products = true"), usage_error);
    }
    CHECK_THROWS_AS((void)solve(group, line, b, x,
                                {.max_iterations = 0, .on_failure = failure_policy::throw_error}),
                    not_converged);
    CHECK_THROWS_WITH_AS((void)solve(group, line, b, x, {}, {.block_size = 2}),
                         doctest::Contains("nodes are those of a square matrix"), usage_error);
}

KRYLITH_GROUP_TEST("auto: a damped x is a problem of least squares") {
    const auto matrix = laplace_1d(12);
    const auto b = random_values<double>(12, 3);
    std::vector<double> x(12);
    const auto result = solve(group, matrix, b, x, {.rtol = 1e-12, .damping = 0.5});
    CHECK(result.converged());
    CHECK(tried(result) == "lsqr");
    const Eigen::MatrixXd a = testing::to_eigen(matrix);
    const Eigen::MatrixXd normal = a.transpose() * a + 0.25 * Eigen::MatrixXd::Identity(12, 12);
    const Eigen::VectorXd expected = normal.ldlt().solve(a.transpose() * testing::to_eigen(b));
    CHECK((testing::to_eigen(x) - expected).norm() <= 1e-9 * expected.norm());
}

KRYLITH_GROUP_TEST("auto: vectors of another operator and bad options are refused") {
    problem<double> p(group, laplace_1d(10), std::vector<double>(10, 1));
    problem<double> q(group, laplace_1d(10), std::vector<double>(10, 1));
    CHECK_THROWS_AS((void)solve(*p.a, q.b, p.x), usage_error);
    CHECK_THROWS_AS((void)solve(*p.a, p.b, p.x, {.rtol = 2}), usage_error);
}

} // namespace krylith
