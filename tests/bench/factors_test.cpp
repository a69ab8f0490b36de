// krylith bench factors: every step is there, measured as often as asked for, and what is wrong
// voids the row.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/bench/factors/factors_check.hpp>
#include <krylith/bench/factors/factors_measure.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::bench {

namespace {

void check_phases(const factors_phases& phases, const std::vector<std::string>& names,
                  std::size_t times) {
    CHECK(phases.all().size() == names.size());
    for (const std::string& name : names) {
        CAPTURE(name);
        const factors_phase* const found = phases.find(name);
        REQUIRE(found != nullptr);
        CHECK(found->seconds.size() == times);
    }
}

} // namespace

KRYLITH_GROUP_TEST("bench factors: all steps of each order, and factors that are some") {
    const workload w = make_workload("gallery:convection_diffusion:9:20");
    const factors_numbers natural = measure_factors(group, w, elimination_order::natural, 2);
    CHECK(natural.void_because.empty());
    CHECK(natural.factors_error <= 1e-14);
    CHECK(natural.nonzeros > 0);
    check_phases(
        natural.phases,
        {"construction", "update", "application", "copy", "layout", "elimination", "triangles"}, 2);
    const factors_numbers colours = measure_factors(group, w, elimination_order::colours, 1);
    CHECK(colours.void_because.empty());
    CHECK(colours.factors_error <= 1e-14);
    CHECK(colours.colours > 0);
    CHECK(colours.phases.find("colours") != nullptr);
    const factors_numbers chosen = measure_factors(group, w, elimination_order::automatic, 1);
    CHECK(chosen.void_because.empty());
    check_phases(chosen.phases, {"construction", "update", "application"}, 1);
}

KRYLITH_GROUP_TEST("bench factors: solves with and without factors") {
    const workload w = make_workload("gallery:poisson3d:9");
    const solve_numbers alone = measure_solve(group, w, "none", 1e-8, 2);
    CHECK(alone.void_because.empty());
    CHECK(alone.relative_residual <= 1.01e-8);
    check_phases(alone.phases, {"solve"}, 2);
    for (const char* const text : {"jacobi", "ic0:order=natural", "ic0:order=colours"}) {
        const solve_numbers numbers = measure_solve(group, w, text, 1e-8, 1);
        CHECK(numbers.void_because.empty());
        CHECK(numbers.preconditioner == text);
        CHECK(numbers.iterations <= alone.iterations);
        check_phases(numbers.phases, {"set-up", "solve"}, 1);
    }
    CHECK_FALSE(measure_solve(group, w, "none", 1e-30, 1).void_because.empty());
}

TEST_CASE("bench factors: factors that are not those of the matrix are found") {
    // A = [4 1; 2 3], so that L U = [4 1; 0.5 2.5].
    const csr_matrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {4, 1, 2, 3}};
    csr_matrix<double> both = a;
    both.values = {4, 1, 0.5, 2.5};
    CHECK(error_of_factors(a, {0, 2}, both, {}) == 0);
    both.values[3] = 2.25;
    CHECK(error_of_factors(a, {0, 2}, both, {}) == 0.0625);
    both.values = {3, 2, 1.0 / 3, 4 - 2.0 / 3}; // the rows the other way round
    both.values[3] = 4 - 2 * both.values[2];
    CHECK(error_of_factors(a, {0, 2}, both, {1, 0}) <= 1e-16);
    CHECK(error_of_factors(a, {0, 2}, both, {0, 1}) > 0.1);
    const csr_matrix<double> diagonal{2, 2, {0, 1, 2}, {0, 1}, {4, 3}};
    CHECK(error_of_factors(a, {0, 2}, diagonal, {}) > 1); // entries of A are not in the pattern
}

} // namespace krylith::bench
