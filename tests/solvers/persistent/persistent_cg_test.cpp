// CG in persistent kernels: the same iteration as launched_cg(), where it can run, and its reason
// on other groups. (All other tests of solvers run it too, as cg.)
#include <cmath>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/jacobi.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::problem;
using testing::random_values;

namespace {

/// Whether the group can run it; if not, checks that it says why.
template <class T>
bool can_run(problem<T>& p) {
    const std::string why_not = not_persistent_because(*p.a);
    if (why_not.empty()) return true;
    CHECK_THROWS_WITH_AS((void)persistent_cg(*p.a, p.b, p.x), doctest::Contains(why_not.c_str()),
                         usage_error);
    return false;
}

/// Checks that iterations are equal and histories agree until rounding has grown.
void compare_histories(const solve_result& expected, const solve_result& found) {
    INFO(describe(expected));
    INFO(describe(found));
    CHECK(found.reason == expected.reason);
    CHECK(std::llabs(found.iterations - expected.iterations) <= 1);
    const auto common = std::min(found.history.size(), expected.history.size());
    REQUIRE(common > 1);
    for (std::size_t k = 0; k < std::min<std::size_t>(common, 30); ++k)
        CHECK(found.history[k] == doctest::Approx(expected.history[k]).epsilon(1e-9));
}

} // namespace

// Grid sizes with 1, 2, 4 and 8 slices a warp on one H200, and one that it can't take.
constexpr int sizes[] = {3, 20, 40, 50, 64, 80, 84};

KRYLITH_GROUP_TEST("persistent cg: the first iterations are those of cg") {
    for (const int size : sizes) {
        CAPTURE(size);
        if (group.kind() == backend::host && size > 20) break;
        const auto matrix = poisson3d<double>(size, random_scaling{7});
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
        if (!can_run(p)) continue;
        const jacobi<double> m(*p.a);
        const solver_options options{.max_iterations = 3, .history = true};
        const solve_result expected = launched_cg(*p.a, p.b, p.x, options, m);
        compare_histories(expected, persistent_cg(*p.a, p.b, p.x, options, m));
    }
}

KRYLITH_GROUP_TEST("persistent cg: takes the way of cg") {
    for (const int size : sizes) {
        CAPTURE(size);
        if (group.kind() == backend::host && size > 20) break;
        const auto matrix = poisson3d<double>(size, random_scaling{7});
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
        if (!can_run(p)) continue;
        const solver_options options{.history = true};
        const solve_result expected = launched_cg(*p.a, p.b, p.x, options);
        const solve_result found = persistent_cg(*p.a, p.b, p.x, options);
        compare_histories(expected, found);
        CHECK(p.relative_residual() <= 1e-8);
        CHECK(found.replacements == expected.replacements);
        const auto first = p.solution();
        (void)persistent_cg(*p.a, p.b, p.x, options);
        CHECK(p.solution() == first); // equal bit by bit

        const jacobi<double> m(*p.a);
        const solve_result expected_m = launched_cg(*p.a, p.b, p.x, options, m);
        const solve_result found_m = persistent_cg(*p.a, p.b, p.x, options, m);
        compare_histories(expected_m, found_m);
        CHECK(p.relative_residual() <= 1e-8);
    }
}

KRYLITH_GROUP_TEST("persistent cg: float") {
    const auto matrix = poisson3d<float>(24);
    problem<float> p(group, matrix, random_values<float>(matrix.rows, 5), {operators::halo});
    if (!can_run(p)) return;
    const solver_options options{.rtol = 1e-4, .history = true};
    const solve_result expected = launched_cg(*p.a, p.b, p.x, options);
    const solve_result found = persistent_cg(*p.a, p.b, p.x, options);
    CHECK(found.reason == expected.reason);
    CHECK(std::llabs(found.iterations - expected.iterations) <= 1);
    CHECK(p.relative_residual() <= 1.1e-4);
}

KRYLITH_GROUP_TEST("persistent cg: callbacks, warm starts and limits") {
    const auto matrix = poisson3d<double>(24);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
    if (!can_run(p)) return;
    std::vector<std::int64_t> seen;
    solver_options options{.history = true};
    const solve_result whole = persistent_cg(*p.a, p.b, p.x, options);
    const auto solution = p.solution();
    options.callback = [&](const progress& now) { seen.push_back(now.iteration); };
    options.callback_interval = 10;
    const solve_result paused = persistent_cg(*p.a, p.b, p.x, options);
    CHECK(paused.iterations == whole.iterations);
    CHECK(paused.history == whole.history); // a pause changes no bit
    CHECK(p.solution() == solution);
    REQUIRE(!seen.empty());
    CHECK(seen.front() == 0);
    CHECK(seen[1] == 10);
    CHECK(seen.back() == whole.iterations);
    CHECK(seen.size() == static_cast<std::size_t>(whole.iterations - 1) / 10 + 2);

    const solve_result few = persistent_cg(*p.a, p.b, p.x, {.max_iterations = 7});
    CHECK(few.reason == reason::max_iterations);
    CHECK(few.iterations == 7);
    const solve_result rest = persistent_cg(*p.a, p.b, p.x, {.initial_guess = true});
    CHECK(rest.converged());
    CHECK(p.relative_residual() <= 1e-8);
}

KRYLITH_GROUP_TEST("persistent cg: failures have their reasons") {
    auto matrix = poisson3d<double>(12);
    const auto b = random_values<double>(matrix.rows, 5);
    problem<double> good(group, matrix, b, {operators::halo});
    if (!can_run(good)) return;
    auto indefinite = matrix;
    for (auto& value : indefinite.values) value = -value;
    problem<double> bad(group, indefinite, b, {operators::halo});
    const auto result = persistent_cg(*bad.a, bad.b, bad.x);
    CHECK(result.reason == reason::indefinite_matrix);
    CHECK(launched_cg(*bad.a, bad.b, bad.x).iterations == result.iterations);
    auto nan = matrix;
    nan.values[nan.values.size() / 2] = NAN;
    problem<double> poisoned(group, nan, b, {operators::halo});
    CHECK(persistent_cg(*poisoned.a, poisoned.b, poisoned.x).reason == reason::not_a_number);
    CHECK(persistent_cg(*good.a, good.b, good.x).converged());
}

KRYLITH_GROUP_TEST("persistent cg: ill-conditioned systems reach what cg reaches") {
    // D A D with entries of D over six decades, to an accuracy that needs residual replacement.
    auto matrix = poisson2d<double>(40);
    const auto random = random_values<double>(matrix.rows, 9);
    const auto d = [&](std::int64_t i) {
        return std::pow(10.0, 1.5 * random[static_cast<std::size_t>(i)]);
    };
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (auto k = matrix.row_offsets[static_cast<std::size_t>(i)];
             k < matrix.row_offsets[static_cast<std::size_t>(i) + 1]; ++k)
            matrix.values[static_cast<std::size_t>(k)] *=
                d(i) * d(matrix.column_indices[static_cast<std::size_t>(k)]);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
    if (!can_run(p)) return;
    const solver_options options{.rtol = 1e-11, .max_iterations = 100000};
    const solve_result expected = launched_cg(*p.a, p.b, p.x, options);
    const solve_result found = persistent_cg(*p.a, p.b, p.x, options);
    INFO(describe(expected));
    INFO(describe(found));
    CHECK(found.reason == expected.reason);
    CHECK(found.true_residual <= 4 * std::max(expected.true_residual, 1e-11 * found.rhs_norm));
    CHECK(static_cast<double>(found.iterations) <=
          1.1 * static_cast<double>(expected.iterations) + 10);
}

namespace {

/// Any term of the user's, entry by entry.
struct own_term {
    term<double> pattern;
    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots) const {
        fused(run, z = *pointwise(r), dots);
    }
    [[nodiscard]] std::optional<term<double>> pointwise(const vector<double>& r) const {
        term<double> result = pattern;
        if (result.v == nullptr) result.v = &r;
        return result;
    }
    [[nodiscard]] bool recordable() const { return true; }
    [[nodiscard]] std::int64_t bytes() const { return 0; }
    [[nodiscard]] std::string name() const { return "own"; }
};
static_assert(pointwise_preconditioner<own_term, double>);

} // namespace

// What the kernel would take for the identity, or for another sign, cg gives to launched kernels.
KRYLITH_GROUP_TEST("persistent cg: preconditioners that are a vector of factors, and no others") {
    const auto matrix = poisson3d<double>(4);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5));
    const auto d = p.a->make_range_vector();
    execution run(group, {});
    const scalar c(run);
    const auto refused = [&](const term<double>& pattern) {
        const own_term m{pattern};
        const any_preconditioner<double> any = std::cref(m);
        const std::string why = not_persistent_because(m, p.b);
        CHECK(not_persistent_because(any, p.b) == why);
        return !why.empty();
    };
    CHECK(refused({}));                              // r
    CHECK(refused({.coefficient = c.number()}));     // c r
    CHECK(refused({.scale = &d, .negative = true})); // -d .* r
    CHECK(refused({.v = &d}));                       // d, whatever r
    CHECK_FALSE(refused({.scale = &d}));             // d .* r
    CHECK_FALSE(refused({.scale = &d, .coefficient = c.number()}));
    CHECK(not_persistent_because(identity{}, p.b).empty());
    CHECK(not_persistent_because(any_preconditioner<double>(), p.b).empty());
    const any_preconditioner<double> any = jacobi<double>(*p.a);
    CHECK(not_persistent_because(any, p.b).empty());
    CHECK_THROWS_WITH_AS(
        (void)persistent_cg(*p.a, p.b, p.x, {}, own_term{}),
        doctest::Contains(group.kind() == backend::cuda && not_persistent_because(*p.a).empty()
                              ? "preconditioner own is more than a product with a vector"
                              : "persistent CG can't run: "),
        usage_error);
}

KRYLITH_GROUP_TEST("persistent cg: what it can't take, cg:auto gives to cg") {
    const auto matrix = poisson3d<double>(10);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5),
                      {operators::nz, formats::csr});
    CHECK_FALSE(not_persistent_because(*p.a).empty());
    CHECK_THROWS_AS((void)persistent_cg(*p.a, p.b, p.x), usage_error);
    const auto result = cg(*p.a, p.b, p.x);
    CHECK(result.converged());
    CHECK(result.form == "launched");
    CHECK(result.form_because == not_persistent_because(*p.a));
    CHECK(p.relative_residual() <= 1e-8);
}

KRYLITH_GROUP_TEST("persistent cg: cg says which kernels it took, and takes the same again") {
    const auto matrix = poisson3d<double>(12, random_scaling{7});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 5), {operators::halo});
    const jacobi<double> m(*p.a);
    const std::string why = launched_because(*p.a, m, p.b, {});
    std::vector<double> first;
    for (int round = 0; round < 3; ++round) {
        const auto result = cg(*p.a, p.b, p.x, {}, m);
        CHECK(result.converged());
        CHECK(result.form == (why.empty() ? "persistent" : "launched"));
        CHECK(result.form_because == why);
        if (round == 0) first = p.solution();
        CHECK(testing::same_bits(p.solution(), first));
    }
    const auto asked = cg(*p.a, p.b, p.x, {.mode = execution_mode::eager}, m);
    CHECK(asked.form == "launched");
    CHECK(asked.form_because == "solver_options::mode asks for it");
    CHECK(launched_cg(*p.a, p.b, p.x, {}, m).form_because.empty());
    CHECK(p.solve(method::gmres).form.empty());
}

} // namespace krylith
