// Conjugate gradients in one resident kernel a device, for small systems: the same recurrences as
// cg(), a fifth of the time or less where rows are few (resident_loop.hpp). And the choice between
// the two.
#pragma once

#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/resident_loop.hpp>

namespace krylith {

/// cg() by resident kernels; M is the identity or works entry by entry. Throws usage_error where
/// not_resident_because(a) has something to say. options.mode and unroll mean nothing here.
template <class T, class M = identity>
solve_result resident_cg(const matrix_operator<T>& given_a, const vector<T>& b, vector<T>& x,
                         const solver_options& options = {}, const M& given_m = {}) {
    constexpr bool plain = std::same_as<M, identity>;
    static_assert(plain || pointwise_preconditioner<M, T>);
    solver_options eager = options;
    eager.mode = execution_mode::eager; // the kernel is the loop
    resident_loop<T> loop(given_a);
    iteration<matrix_operator<T>, M> it(given_a, given_m, b, x, eager, {}, true);
    execution& run = it.run();
    auto r = given_a.make_vector();
    auto operand = given_a.make_operand();
    scalar rho(run), beta(run), scale(run);
    auto result = it.solve(
        r, operand,
        [&] {
            if constexpr (plain)
                fused(run, rho = dot(r, r));
            else
                precondition<T>(run, it.m(), r, operand, rho = dot(r, operand));
            beta = 0.0;
        },
        [&] {
            resident_registers registers{rho.number(), beta.number(), no_register};
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
    result.recorded = true; // as good as: the devices repeat the iteration by themselves
    return result;
}

/// resident_cg() where it can run, which is where it is the faster one; else cg().
template <class T, class M = identity>
solve_result automatic_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                          const solver_options& options = {}, const M& m = {}) {
    if (not_resident_because(a).empty()) return resident_cg(a, b, x, options, m);
    return cg(a, b, x, options, m);
}

} // namespace krylith
