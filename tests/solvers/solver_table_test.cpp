// The table of solvers: what its rows promise, and the names of them.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;
using testing::random_values;
using testing::same_bits;

KRYLITH_GROUP_TEST("solver table: what rows say of sides, restarts and recording is so") {
    const auto matrix = poisson2d<double>(13, 12, random_scaling{5});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 231));
    const any_preconditioner<double> m = jacobi<double>(*p.a);
    for (const solver_method* row : all_solvers) {
        if (!row->runs_everywhere || row->least_squares) continue; // the latter takes no m
        CAPTURE(std::string(row->name));
        const auto solve = [&](const solver_options& options) {
            const auto result = row->solve(*p.a, p.b, p.x, options, m);
            INFO(testing::describe(result));
            CHECK(result.converged());
            return p.solution();
        };
        const auto usual = solve({.rtol = 1e-10});
        CHECK(row->has_sides ==
              !same_bits(usual, solve({.rtol = 1e-10, .preconditioning = side::left})));
        CHECK(row->restarts == !same_bits(usual, solve({.rtol = 1e-10, .restart = 3})));
        for (const auto mode : testing::modes_of(group)) {
            const auto result = row->solve(*p.a, p.b, p.x, {.mode = mode}, m);
            if (row->recordable) CHECK(result.recorded == (mode == execution_mode::recorded));
        }
    }
}

KRYLITH_GROUP_TEST("solver table: one that is chosen by name has the bits of the function") {
    const auto matrix = poisson2d<double>(10, 9, random_scaling{2});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 232));
    CHECK(find_solver("cg").solve(*p.a, p.b, p.x).converged());
    const auto found = p.solution();
    CHECK(cg(*p.a, p.b, p.x).converged());
    CHECK(same_bits(p.solution(), found));
    const auto& persistent = find_solver("cg:persistent");
    CHECK_FALSE(persistent.runs_everywhere);
    if (!not_persistent_because(*p.a).empty())
        CHECK_THROWS_WITH_AS((void)persistent.solve(*p.a, p.b, p.x),
                             doctest::Contains("persistent CG can't run"), usage_error);
    problem<float> q(group, testing::converted<float>(matrix),
                     random_values<float>(matrix.rows, 233));
    CHECK(find_solver("gmres").solve(*q.a, q.b, q.x).converged());
}

TEST_CASE("solver table: names are distinct, and models are worked out without preconditioner") {
    std::set<std::string_view> names;
    for (const solver_method* row : all_solvers) {
        CAPTURE(std::string(row->name));
        CHECK(names.insert(row->name).second);
        for (const std::string_view alias : row->aliases) CHECK(names.insert(alias).second);
        CHECK_FALSE(row->help.empty());
        CHECK(&find_solver(row->name) == row);
        CHECK(row->base().variant_of == nullptr);
        CHECK(row->base().products == row->products);
        if (row->for_comparison) CHECK(&row->base() != row);
        CHECK(row->products >= 1);
        const solver_setting plain{.restart = 30, .iterations = 30};
        const auto passes = row->passes.get()(plain);
        REQUIRE(passes.has_value());
        CHECK(*passes >= 8);
        solver_setting with = plain;
        with.preconditioned = with.pointwise = true;
        const auto alone = row->vectors.get()(plain);
        const auto both = row->vectors.get()(with);
        CHECK(alone.domain >= 1);
        if (!row->least_squares) CHECK(both.range + both.domain > alone.range + alone.domain);
    }
    CHECK(solver_names().size() == all_solvers.size());
}

TEST_CASE("solver table: a basis of which an iteration works with the mean") {
    const auto mean = [](std::int64_t restart, std::int64_t iterations) {
        return solver_setting{.restart = restart, .iterations = iterations}.mean_basis();
    };
    CHECK(mean(30, 0) == 0);
    CHECK(mean(30, 1) == 1);
    CHECK(mean(30, 30) == 15.5);
    CHECK(mean(2, 3) == doctest::Approx(4.0 / 3)); // 1, 2, 1
}

TEST_CASE("solver table: an unknown name is refused with the nearest") {
    CHECK_THROWS_WITH_AS(
        (void)find_solver("gmers"),
        doctest::Contains("unknown solver 'gmers': did you mean 'gmres'? Valid are auto cg"),
        usage_error);
    CHECK_THROWS_WITH_AS((void)find_solver("PCG"), doctest::Contains("did you mean 'cg'"),
                         usage_error);
    CHECK_THROWS_AS((void)find_solver(""), usage_error);
}

} // namespace krylith
