// Conjugate gradients in one persistent kernel a device, for small systems, and the choice between
// it and cg(). The recurrences are those of cg() with fewer kernel launches
// (solvers/persistent/persistent_loop.hpp): 11.7 us an iteration instead of 20.9 for a 7-point
// stencil of 64^3 rows on one H200.
#pragma once

#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/persistent/persistent_loop.hpp>

namespace krylith {

/// The preconditioners that a persistent kernel applies itself: M = I, or one vector entry by
/// entry. A pointwise preconditioner of the user's may be any term, so it runs in cg().
template <class M, class T>
concept persistent_preconditioner = std::same_as<M, identity> || std::same_as<M, jacobi<T>>;

/// Solves A x = b like cg(), in persistent kernels. Throws usage_error where
/// not_persistent_because(a) gives a reason. options.mode and options.unroll have no effect.
template <class T, persistent_preconditioner<T> M = identity>
solve_result persistent_cg(const matrix_operator<T>& given_a, const vector<T>& b, vector<T>& x,
                           const solver_options& options = {}, const M& given_m = {}) {
    constexpr bool plain = std::same_as<M, identity>;
    check_square(given_a, "persistent_cg");
    solver_options eager = options;
    eager.mode = execution_mode::eager; // the kernel is the loop
    persistent_loop<T> loop(given_a);
    iteration<matrix_operator<T>, M> it(given_a, given_m, b, x, eager, {}, true);
    execution& run = it.run();
    auto r = given_a.make_range_vector();
    auto domain = given_a.make_domain_vector();
    scalar rho(run), beta(run), scale(run);
    auto result = it.solve(
        r, domain,
        [&] {
            if constexpr (plain)
                fused(run, rho = dot(r, r));
            else
                precondition<T>(run, it.m(), r, domain, rho = dot(r, domain));
            beta = 0.0;
        },
        [&] {
            persistent_registers registers{rho.number(), beta.number(), no_register};
            const vector<T>* inverse = nullptr;
            if constexpr (!plain) {
                require_positive(rho, loop_state::indefinite_preconditioner);
                const term<T> z = it.m()(r);
                inverse = z.scale;
                if (z.coefficient != no_register) {
                    scale = scalar_value{&run, z.coefficient};
                    registers.scale = scale.number();
                }
            }
            loop.enqueue(run, it.a().factor(), x, r, inverse, registers);
        });
    result.recorded = true; // the devices repeat the iteration by themselves, as in a recorded loop
    return result;
}

/// Calls persistent_cg() where it can run, else cg().
template <class T, preconditioner<T> M = identity>
solve_result automatic_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                          const solver_options& options = {}, const M& m = {}) {
    check_square(a, "cg");
    if constexpr (persistent_preconditioner<M, T>)
        if (not_persistent_because(a).empty()) return persistent_cg(a, b, x, options, m);
    return cg(a, b, x, options, m);
}

} // namespace krylith
