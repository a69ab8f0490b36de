// The row of a solver in the table of solvers (solvers/solver_table.hpp): what krylith must know of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <krylith/device/tables/required.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/table/joint_solver.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// A solver for an operator and a preconditioner that are chosen at run time.
template <class T>
using solver_function = solve_result (*)(const matrix_operator<T>& a, const vector<T>& b,
                                         vector<T>& x, const solver_options& options,
                                         const any_preconditioner<T>& m);

struct solver_functions {
    solver_function<double> fp64;
    solver_function<float> fp32;

    template <class T>
    [[nodiscard]] constexpr solver_function<T> of() const noexcept {
        if constexpr (std::is_same_v<T, double>)
            return fp64;
        else
            return fp32;
    }
};

/// What models of a solver depend on beside the matrix. M stands on the right.
struct solver_setting {
    bool preconditioned = false; ///< M is not I
    bool pointwise = false;      ///< M works entry by entry, in updates of the solver
    std::int64_t restart = 0;
    std::int64_t iterations = 0; ///< of the whole solve, of which the mean is taken
    bool damped = false;         ///< x is damped (solver_options::damping)

    /// Returns the basis vectors that an iteration of a restarted method works with, in the mean.
    [[nodiscard]] double mean_basis() const;
};

/// Vectors by what they hold: the entries of the layout, or ghosts too (what A multiplies).
struct solver_vectors {
    std::int64_t range;
    std::int64_t domain;
};

struct solver_method {
    required_text name;
    name_list aliases = name_list::none(); ///< what others call it, in lower case
    required_text help; ///< a clause, such as "needs a symmetric positive definite matrix"
    /// The solver that this is another way to run, with the same iterates; null: none.
    const solver_method* variant_of = nullptr;
    /// Whether it is there to be measured against its base, not for use.
    bool for_comparison = false;
    /// Whether A and M must be symmetric positive definite.
    required<bool> needs_spd;
    /// Whether A and M must be symmetric; M then is positive definite. So it is where needs_spd is.
    required<bool> needs_symmetric;
    /// Whether it minimises ||b - A x|| for any m x n A, without M: the operator must have been
    /// made with operator_options::transposed_products. The others need a square A.
    bool least_squares = false;
    /// Whether M may differ from one application to the next (precond/preconditioner.hpp).
    bool takes_varying = false;
    /// Whether solver_options::preconditioning has an effect.
    required<bool> has_sides;
    /// Whether solver_options::restart has an effect.
    required<bool> restarts;
    /// Whether it runs on all devices, with all operators and preconditioners; otherwise it throws
    /// usage_error saying what it needs.
    bool runs_everywhere = true;
    /// Whether all devices must be of one process, and have one driver (comm/communicator.hpp):
    /// with several it throws usage_error.
    bool one_process = false;
    /// Whether solver_options::mode has an effect: the loop is recorded, or enqueued by the host.
    bool recordable = true;
    /// Whether `krylith info` lists its needs and `krylith recommend` tries it.
    bool listed = false;
    /// The products with A in an iteration.
    required<int> products;
    /// Returns how often an iteration reads or writes a whole vector, beside its products and M's
    /// own work; nothing where no model has been worked out.
    required<std::optional<double> (*)(const solver_setting&)> passes;
    /// Returns the vectors that it keeps beside b and x.
    required<solver_vectors (*)(const solver_setting&)> vectors;
    required<solver_functions> functions;
    /// What solves for several right-hand sides in one loop (solvers/column_solver.hpp); null: the
    /// method takes one after the other.
    joint_makers joint = {};

    /// Returns the method itself, or the one that it is another way to run.
    [[nodiscard]] constexpr const solver_method& base() const {
        return variant_of == nullptr ? *this : *variant_of;
    }

    /// Solves A x = b like the function of this name in solvers/, whose promises it keeps.
    template <class T>
    solve_result solve(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                       const solver_options& options = {},
                       const any_preconditioner<T>& m = {}) const {
        return functions.get().template of<T>()(a, b, x, options, m);
    }
};

} // namespace krylith
