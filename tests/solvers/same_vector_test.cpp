// b and x in the same memory: x replaces b, and the solved system is that of the original b.
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::name_of;
using testing::problem;
using testing::same_bits;
using testing::values_of;

namespace {

std::vector<double*> parts_of(const vector<double>& v) {
    std::vector<double*> parts;
    for (int rank = 0; rank < v.layout()->comm.ranks(); ++rank) parts.push_back(v.data(rank));
    return parts;
}

} // namespace

KRYLITH_GROUP_TEST("the same vector: x in the place of b has the bits of x elsewhere") {
    const auto matrix = poisson2d<double>(9, 8);
    for (const double size : {1.0, 1e200}) { // one system is scaled, too
        auto b = testing::random_values<double>(72, 191);
        for (double& v : b) v *= size;
        for (const auto which : all_methods)
            for (const bool jacobi_too : {false, true}) {
                CAPTURE(name_of(which));
                problem<double> p(group, matrix, b);
                const auto apart = jacobi_too ? p.solve_jacobi(which) : p.solve(which);
                REQUIRE(apart.converged());
                const jacobi<double> m(*p.a, matrix);
                const auto solve = [&](const vector<double>& from, vector<double>& to) {
                    return jacobi_too ? testing::solve(which, *p.a, from, to, {}, m)
                                      : testing::solve(which, *p.a, from, to);
                };
                auto both = testing::make_range_vector(p.a->layout(), b);
                const auto once = solve(both, both);
                INFO(describe(once));
                CHECK(once.converged());
                CHECK(once.iterations == apart.iterations);
                CHECK(same_bits(values_of(both), p.solution()));

                // Both vectors borrow one array.
                both.upload(b);
                const auto parts = parts_of(both);
                const auto lent =
                    vector<double>::borrow(p.a->layout(), std::span<double* const>(parts));
                auto lent_again =
                    vector<double>::borrow(p.a->layout(), std::span<double* const>(parts));
                const auto twice = solve(lent, lent_again);
                CHECK(twice.converged());
                CHECK(same_bits(values_of(both), p.solution()));
            }
    }
}

KRYLITH_GROUP_TEST("the same vector: a start from it") {
    problem<double> p(group, poisson2d<double>(6, 5), testing::random_values<double>(30, 192));
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        auto both = testing::make_range_vector(p.a->layout(), values_of(p.b));
        const auto result = testing::solve(which, *p.a, both, both, {.initial_guess = true});
        CHECK(result.converged());
        p.x.upload(values_of(both));
        CHECK(p.relative_residual() <= 1.01e-8);
    }
}

KRYLITH_GROUP_TEST("the same vector: a product refuses x and y in one memory") {
    const auto a = make_operator(group, poisson2d<double>(6, 5));
    auto x = a->make_domain_vector();
    const auto parts = parts_of(x);
    auto y = vector<double>::borrow(a->layout(), std::span<double* const>(parts));
    execution run(group, {});
    CHECK_THROWS_AS(a->apply(run, 1, x, 0, x), usage_error);
    CHECK_THROWS_AS(a->apply(run, 1, x, 0, y), usage_error);
}

} // namespace krylith
