// Conjugate gradients in one persistent kernel a device, for small systems, and the choice between
// it and cg(). The recurrences are those of cg() with fewer kernel launches
// (solvers/persistent/persistent_loop.hpp): 11.7 us an iteration instead of 20.9 for a 7-point
// stencil of 64^3 rows on one H200.
#pragma once

#include <optional>
#include <string>

#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/persistent/persistent_loop.hpp>

namespace krylith {

/// Says why persistent kernels can't apply this preconditioner; empty if they can. M must be I or
/// d .* r with a vector d, entry by entry. b is any range vector.
template <class T, preconditioner<T> M>
[[nodiscard]] std::string not_persistent_because(const M& m, const vector<T>& b) {
    if (is_identity(m)) return {};
    const std::optional<term<T>> z = pointwise_inverse<T, M>(m, b);
    if (z && z->v == &b && z->scale != nullptr && !z->negative) return {};
    return "preconditioner " + std::string(m.name()) +
           " is more than a product with a vector, entry by entry";
}

/// Says why CG with these can't run in persistent kernels; empty if it can.
template <class T, preconditioner<T> M>
[[nodiscard]] std::string not_persistent_because(const matrix_operator<T>& a, const M& m,
                                                 const vector<T>& b) {
    const std::string why_not = not_persistent_because(a);
    return why_not.empty() ? not_persistent_because(m, b) : why_not;
}

/// Solves A x = b like cg(), in persistent kernels. Throws usage_error where
/// not_persistent_because(a, m, b) gives a reason. options.mode and options.unroll have no effect.
template <class T, preconditioner<T> M = identity>
solve_result persistent_cg(const matrix_operator<T>& given_a, const vector<T>& b, vector<T>& x,
                           const solver_options& options = {}, const M& given_m = {}) {
    check_square(given_a, "persistent_cg");
    const std::string why_not = not_persistent_because(given_a, given_m, b);
    if (!why_not.empty()) refuse_persistent_cg(why_not);
    const bool plain = is_identity(given_m);
    solver_options eager = options;
    eager.mode = execution_mode::eager; // the kernel is the loop
    persistent_loop<T> loop(given_a);
    iteration<matrix_operator<T>, M> it(given_a, given_m, b, x, eager, {.coefficients = true},
                                        true);
    execution& run = it.run();
    const auto m = it.m();
    auto r = given_a.make_range_vector();
    auto domain = given_a.make_domain_vector();
    scalar rho(run), beta(run), scale(run);
    auto result = it.solve(
        r, domain,
        [&] {
            if (plain)
                fused(run, rho = dot(r, r));
            else
                precondition<T>(run, m, r, domain, rho = dot(r, domain));
            beta = 0.0;
        },
        [&] {
            persistent_registers registers{rho.number(), beta.number(), no_register};
            const vector<T>* inverse = nullptr;
            if (!plain) {
                require_positive(rho, loop_state::indefinite_preconditioner);
                const term<T> z = *m.pointwise(r);
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
    if (not_persistent_because(a, m, b).empty()) return persistent_cg(a, b, x, options, m);
    return cg(a, b, x, options, m);
}

} // namespace krylith
