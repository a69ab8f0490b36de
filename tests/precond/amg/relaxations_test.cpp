// The table of relaxations: their polynomials, their names, and cycles with each.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/relaxations.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::random_values;

namespace {

/// What a relaxation leaves of the component of the error with this eigenvalue of B.
double left_of(const std::vector<detail::relaxation_step>& steps, double eigenvalue) {
    double x = 0; // of a solution 1
    double z = 0;
    for (const detail::relaxation_step& step : steps) {
        z = step.a * z + step.c * eigenvalue * (1 - x);
        x += z;
    }
    return std::fabs(1 - x);
}

} // namespace

TEST_CASE("relaxations: none enlarges a component, and all shrink the upper half") {
    for (const detail::relaxation_method& row : detail::relaxations()) {
        CAPTURE(row.name);
        for (int degree = 1; degree <= 8; ++degree) {
            const auto steps = row.steps(degree);
            REQUIRE(static_cast<int>(steps.size()) == degree);
            CHECK(steps.front().a == 0);
            for (int k = 0; k <= 100; ++k) CHECK(left_of(steps, k / 100.0) <= 1 + 1e-12);
            for (int k = 50; k <= 100; ++k) CHECK(left_of(steps, k / 100.0) < 0.85);
        }
    }
}

KRYLITH_GROUP_TEST("relaxations: each solves, under its name") {
    const auto matrix = make_gallery<double>("poisson3d:12");
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    b.upload(random_values<double>(matrix.rows, 3));
    for (const detail::relaxation_method& row : detail::relaxations()) {
        CAPTURE(row.name);
        const std::string text = "amg:relaxation=" + std::string(row.name);
        const amg<double> m(*a, matrix, amg_options_of(text));
        CHECK(m.options().relaxation == row.kind);
        CHECK(m.name().find(":relaxation=" + std::string(row.name)) != std::string::npos);
        auto x = a->make_domain_vector();
        const solve_result result = cg(*a, b, x, {}, m);
        CHECK(result.converged());
        CHECK(result.iterations < 15);
    }
}

} // namespace krylith
