// "Converged" where rounding hides the residual: it is said of b - A x in doubled precision.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/lsqr.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::from_dense;
using testing::method;
using testing::name_of;
using testing::problem;

namespace {

/// ||b - A x|| / ||b|| in 80 bits.
template <class T>
double exact_residual(const csr_matrix<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
    long double rr = 0;
    long double bb = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        long double r = b[row];
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            r -= static_cast<long double>(a.values[k]) *
                 x[static_cast<std::size_t>(a.column_indices[k])];
        rr += r * r;
        bb += static_cast<long double>(b[row]) * b[row];
    }
    return static_cast<double>(std::sqrt(rr / bb));
}

/// Rows that are the same but for their rounding: an x of 1e15 has any residual by a product.
csr_matrix<double> nearly_singular() {
    return from_dense(
        {{-0.1112795288033378, 0.16127952880333685}, {0.1112795288033368, -0.16127952880333785}});
}

/// A chain of conductances of which nothing is grounded but by rounding.
csr_matrix<double> floating_chain(std::int64_t n) {
    testing::triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto conductance = [](std::int64_t k) {
            return 0.1 + 0.01 * static_cast<double>(k % 7);
        };
        const double left = i > 0 ? conductance(i - 1) : 0;
        const double right = i + 1 < n ? conductance(i) : 0;
        if (i > 0) entries.push_back({i, i - 1, -left});
        entries.push_back({i, i, (left + right) * (1 + 2e-16 * static_cast<double>(i % 3))});
        if (i + 1 < n) entries.push_back({i, i + 1, -right});
    }
    return testing::from_triplets(n, entries);
}

/// Whether what a result says of convergence holds for its x, whatever the method.
void is_true(const solve_result& r, double exact) {
    INFO(describe(r));
    CAPTURE(exact);
    if (r.converged()) CHECK(exact <= 1.0001e-8);
    if (r.converged()) CHECK(r.diagnosis.empty());
    if (!r.converged()) CHECK_FALSE(r.diagnosis.empty());
}

} // namespace

KRYLITH_GROUP_TEST("attainable accuracy: nearly singular systems have no false convergence") {
    for (const auto& matrix : {nearly_singular(), floating_chain(11), floating_chain(60)}) {
        const auto n = static_cast<std::size_t>(matrix.rows);
        for (const auto& b :
             {std::vector<double>(n, 1.0), testing::random_values<double>(matrix.rows, 71)})
            for (const auto which : all_methods) {
                CAPTURE(name_of(which));
                problem<double> p(group, matrix, b);
                is_true(p.solve(which), exact_residual(matrix, b, p.solution()));
                // From the x just found, which a product may call exact.
                is_true(p.solve_from(p.solution(), which), exact_residual(matrix, b, p.solution()));
            }
    }
}

// (1 + 2^-52) 1.5 2^52 rounds to 1.5 2^52 + 2, half a unit too much: by a product the guess has a
// residual of 0, and in truth of 0.5. Few x in fp64 have a small one, as (2^53 - 2, 2^53 - 1) has.
KRYLITH_GROUP_TEST("attainable accuracy: the reason, and words about what may be singular") {
    const auto matrix = from_dense({{1 + 0x1p-52, -1}, {1, -1}});
    const std::vector<double> b = {1, -1};
    const std::vector<double> guess = {0x1.8p52, 0x1.8p52 + 1};
    problem<double> p(group, matrix, b);
    for (const auto which : testing::general_methods) {
        CAPTURE(name_of(which));
        for (const bool history : {false, true}) {
            const auto result = p.solve_from(guess, which, {.history = history});
            const auto x = p.solution();
            const double between = x[0] - x[1]; // exact
            const double exact =
                std::hypot(1 - (between + x[0] * 0x1p-52), -1 - between) / std::sqrt(2.0);
            is_true(result, exact);
            CHECK(result.residual_rounding > 1e-8 * result.rhs_norm);
            CHECK(result.relative_residual() == doctest::Approx(exact).epsilon(1e-6));
            if (which != method::gmres) continue;
            CHECK(name_of(result.reason) == name_of(reason::attainable_accuracy));
            CHECK(result.diagnosis.find("A is singular, or nearly") != std::string::npos);
        }
        // Nothing is iterated, and nothing promised.
        const auto result = p.solve_from(guess, which, {.max_iterations = 0});
        CHECK(name_of(result.reason) == name_of(reason::max_iterations));
        CHECK(result.true_residual == doctest::Approx(0.5));
    }
    // No other method does better, and all are tried.
    p.x.upload(guess);
    const auto result = solve(*p.a, p.b, p.x, {.initial_guess = true});
    is_true(result, exact_residual(matrix, b, p.solution()));
    CHECK(result.attempts.size() > 1);
    // In fp32 what was asked for is below what one row can be known to.
    problem<float> one(group, testing::converted<float>(testing::diagonal_matrix({3})), {1});
    const auto third = one.solve(method::gmres, {.rtol = 0});
    INFO(describe(third));
    CHECK(name_of(third.reason) == name_of(reason::attainable_accuracy));
    CHECK(third.diagnosis.find("use fp64") != std::string::npos);
    CHECK(third.diagnosis.find("singular") == std::string::npos);
}

KRYLITH_GROUP_TEST("attainable accuracy: honest solves in fp32 and with long rows converge") {
    problem<float> p(group, poisson2d<float>(20), std::vector<float>(400, 1.0F));
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        const auto result = p.solve(which);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(exact_residual(poisson2d<float>(20), std::vector<float>(400, 1.0F), p.solution()) <=
              1.0001e-5);
    }
    // An arrow: a row and a column of 3000 entries.
    testing::triplets entries;
    constexpr std::int64_t n = 3000;
    for (std::int64_t i = 0; i < n; ++i) {
        entries.push_back({i, i, i == 0 ? 6000.0 : 2.0});
        if (i > 0) entries.push_back({0, i, 1.0});
        if (i > 0) entries.push_back({i, 0, 1.0});
    }
    const auto arrow = testing::converted<float>(testing::from_triplets(n, entries));
    problem<float> q(group, arrow, std::vector<float>(n, 1.0F));
    for (const auto which : {method::cg, method::gmres, method::bicgstab}) {
        CAPTURE(name_of(which));
        const auto result = q.solve(which);
        INFO(describe(result));
        CHECK(result.converged());
    }
}

// What a target below the rounding of a product asks for is reached by corrections from residuals
// that are known, which x can hold where its own rounding is not in the way.
KRYLITH_GROUP_TEST("attainable accuracy: solves go on from the residual in doubled precision") {
    const auto matrix = testing::diagonal_matrix({3, 7, 11});
    const std::vector<double> b = {1, 2, 3};
    problem<double> p(group, matrix, b);
    const auto result = p.solve(method::gmres, {.rtol = 1e-16});
    INFO(describe(result));
    CHECK(result.converged() == (exact_residual(matrix, b, p.solution()) <= 1e-16));
    // A residual that is 0 by a product but not in truth fulfils no rtol of 0.
    const auto strict = p.solve(method::cg, {.rtol = 0});
    INFO(describe(strict));
    CHECK(strict.converged() == (exact_residual(matrix, b, p.solution()) == 0));
    // Squares of such a residual vanish: x is right but for an entry of 1e-170.
    problem<double> tiny(group, testing::diagonal_matrix({1, 1}), {1, 1e-170});
    CHECK_FALSE(tiny.solve_from({1, 0}, method::cg, {.rtol = 0, .max_iterations = 0}).converged());
}

// The bound of what rounding may do is known from the first solve on, and then no second pass is
// made where it is enough.
KRYLITH_GROUP_TEST("attainable accuracy: solves agree, whether the norms of A are known or not") {
    problem<double> p(group, poisson2d<double>(12, 12), testing::random_values<double>(144, 72));
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        p.a->drop_facts();
        const auto first = p.solve(which);
        const auto x = p.solution();
        CHECK(p.a->kept().norms.get());
        const auto second = p.solve(which);
        CHECK(first.residual_rounding == 0);
        CHECK(first.iterations == second.iterations);
        CHECK(first.true_residual == second.true_residual);
        CHECK(testing::same_bits(x, p.solution()));
    }
}

KRYLITH_GROUP_TEST("attainable accuracy: least squares of a nearly singular square matrix") {
    const auto matrix = nearly_singular();
    const std::vector<double> b(2, 1.0);
    const auto a = make_operator(group, matrix, {.transposed_products = true});
    auto rhs = testing::make_range_vector(a->layout(), b);
    auto x = a->make_range_vector();
    const auto result = lsqr(*a, rhs, x);
    INFO(describe(result));
    const double exact = exact_residual(matrix, b, testing::values_of(x));
    if (result.reason == reason::converged_rtol) CHECK(exact <= 1.0001e-8);
}

// The residual falls from its first value on, however much larger than b that is.
KRYLITH_GROUP_TEST("a far guess: growth is measured from the residual that the solve begins with") {
    const auto matrix = poisson2d<double>(6, 6);
    for (const bool history : {false, true})
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            problem<double> p(group, matrix, std::vector<double>(36, 1e-6));
            const std::vector<double> x0(36, 1e5);
            const auto result = p.solve_from(x0, which, {.history = history});
            INFO(describe(result));
            CHECK(name_of(result.reason) == name_of(reason::converged_rtol));
        }
}

} // namespace krylith
