// Solves with algebraic multigrid, whose hierarchies are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/precond/amg.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith::testing {

/// What a solve needs, and whether the hierarchy is the one that one device makes.
struct amg_solve {
    std::int64_t iterations;
    std::vector<multigrid_level_facts> levels;
    double complexity;
};

/// Solves by CG, or by BiCGStab where M isn't symmetric.
[[nodiscard]] inline amg_solve
solve_with_amg(const device_group& group, const csr_matrix<double>& matrix,
               const amg_options& options, const operator_options& how = {}, double rtol = 1e-8) {
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 11), how);
    const amg<double> m(*p.a, matrix, options);
    const solve_result result = m.symmetric() ? cg(*p.a, p.b, p.x, {.rtol = rtol}, m)
                                              : bicgstab(*p.a, p.b, p.x, {.rtol = rtol}, m);
    INFO(m.name());
    INFO(describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= rtol);
    return {result.iterations, m.levels(), m.operator_complexity()};
}

inline void check_same_hierarchy(const amg_solve& a, const amg_solve& b) {
    CHECK(a.iterations == b.iterations);
    REQUIRE(a.levels.size() == b.levels.size());
    for (std::size_t k = 0; k < a.levels.size(); ++k) {
        CHECK(a.levels[k].rows == b.levels[k].rows);
        CHECK(a.levels[k].nonzeros == b.levels[k].nonzeros);
        CHECK(a.levels[k].bound == b.levels[k].bound); // the same bits
    }
}

} // namespace krylith::testing
