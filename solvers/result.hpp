// The outcome of a solve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/precond/preconditioner/multigrid_level_facts.hpp>

namespace krylith {

/// Why a solve ended, by PETSc's set of reasons. Converged always refers to the true residual
/// r = b - A x; where both hold, that of ||r|| is said before that of ||A'r||.
enum class reason {
    converged_rtol,        ///< ||b - A x|| <= rtol ||b||
    converged_atol,        ///< ||b - A x|| <= atol
    converged_rtol_normal, ///< LSQR: ||A'(b - A x)|| <= rtol_normal ||A|| ||b - A x||: no x
                           ///< has a much smaller residual
    happy_breakdown,       ///< GMRES: the Krylov space holds the solution; the residual agrees
    max_iterations,        ///< iterations ran out
    diverged,              ///< the residual grew beyond divergence_tolerance times the larger of
                           ///< ||b|| and the one that the solve began with
    breakdown,             ///< a scalar that the method divides by vanished
    indefinite_matrix,     ///< CG: p'Ap <= 0
    indefinite_preconditioner, ///< CG, MINRES: r'z <= 0
    not_a_number,              ///< NaN or infinity in b, x0, A, or on the way
    stagnated,                 ///< no more progress: rounding allows none, or the method is stuck
    attainable_accuracy,       ///< rounding hides the residual: as a product gives it, it is small
                               ///< enough; in doubled precision it isn't, and gets no smaller
    out_of_range,              ///< x solves the system, but its type can't hold it
    stopped_by_user,           ///< the callback said stop
    interrupted,               ///< solver_options::stop was requested
    time_limit                 ///< solver_options::max_seconds are over
};

[[nodiscard]] const char* to_string(reason why) noexcept;

/// A method that solve() tried (solvers/automatic.hpp).
struct solve_attempt {
    std::string solver;                        ///< by its name in the table of solvers
    std::string preconditioner;                ///< by its name()
    std::int64_t preconditioner_bytes = 0;     ///< on the device that keeps most
    std::vector<multigrid_level_facts> levels; ///< of a multigrid preconditioner, else empty
    std::string side;    ///< "left", "right" or "split"; empty where it has no effect
    int restart = 0;     ///< 0 where it has no effect
    std::string because; ///< why it was tried
    /// Why the preconditioner could not be made, so that nothing was solved; empty where it was.
    std::string refused;
    krylith::reason reason = reason::max_iterations; ///< how it ended
    std::int64_t iterations = 0;
    double seconds = 0;           ///< set-up and solve
    double solve_seconds = 0;     ///< of these, from the first operation to the verified x
    double relative_residual = 0; ///< of its x, true
};

/// The extreme eigenvalues of M^-1 A (of A without M) as CG finds them on the way: Ritz values,
/// which lie between the eigenvalues' extremes and approach them as CG converges, the larger one
/// sooner. They are those that b has a part of (Saad, Iterative Methods, 2nd ed., section 6.7.3).
/// Preconditioners may differ from their formula by a power of two, as Jacobi does for diagonals of
/// extreme size, and so do the eigenvalues then; the condition number doesn't.
struct spectrum_estimate {
    double smallest = 0;
    double largest = 0;
    /// Returns an estimate from below of the 2-norm condition number.
    [[nodiscard]] double condition() const noexcept { return largest / smallest; }
};

/// The residual of the normal equations A'A x = A'b, which vanishes where ||b - A x|| is least.
struct normal_residual {
    double norm = 0;        ///< ||A'(b - A x)||_2, recomputed from the x returned
    double matrix_norm = 0; ///< what the iterations know of ||A||_2, an estimate from below
    double relative = 0;    ///< norm / (matrix_norm ||b - A x||), also where these leave the range
                            ///< of double; 0 where norm is 0
};

struct [[nodiscard]] solve_result {
    krylith::reason reason = reason::max_iterations;
    std::int64_t iterations = 0;
    double rhs_norm = 0;                   ///< ||b||_2
    double rtol = 0;                       ///< what was asked for, or the default of the precision
    double recurrence_residual = 0;        ///< ||r||_2 as the iteration updates it
    double true_residual = 0;              ///< ||b - A x||_2, recomputed from the x returned; with
                                           ///< solver_options::damping as lsqr() says
    double residual_rounding = 0;          ///< what rounding may add to ||b - A x|| as a product
                                           ///< gives it, where that was more than what was asked
                                           ///< for: true_residual is then made in doubled precision
    std::optional<normal_residual> normal; ///< by lsqr()
    double setup_seconds = 0;    ///< workspace, and recording, beside which the devices may begin;
                                 ///< by solve() of all attempts, with their M
    double solve_seconds = 0;    ///< from the first operation to the verified x, less the
                                 ///< recording; by solve() of all attempts
    int replacements = 0;        ///< how often the true residual replaced the recurrence's
    bool recorded = false;       ///< the devices repeated the iteration by themselves
    std::string form;            ///< cg(): "persistent" or "launched" kernels; empty for others
    std::string form_because;    ///< why cg() launched them; empty where that was not its choice
    std::string diagnosis;       ///< why it failed, in words, and what to try; empty if
                                 ///< converged
    std::vector<double> history; ///< ||r||_2 of each iteration from the start on; empty unless
                                 ///< asked for
    std::optional<spectrum_estimate> spectrum; ///< by cg() with history, after an iteration
    std::vector<std::map<std::string, std::size_t>> bytes; ///< by device and item, at the end of
                                                           ///< the solve; those of this driver

    std::vector<solve_attempt> attempts; ///< of solve(), in order; empty for a method by name

    [[nodiscard]] bool converged() const noexcept {
        return reason == reason::converged_rtol || reason == reason::converged_atol ||
               reason == reason::converged_rtol_normal || reason == reason::happy_breakdown;
    }
    /// Returns the attempt that gave x; null for a method by name.
    [[nodiscard]] const solve_attempt* best_attempt() const noexcept;
    /// Returns ||b - A x|| / ||b||; the residual itself if b = 0.
    [[nodiscard]] double relative_residual() const noexcept {
        return rhs_norm > 0 ? true_residual / rhs_norm : true_residual;
    }
    /// Returns that of the attempt that gave x.
    [[nodiscard]] double seconds_per_iteration() const noexcept {
        const solve_attempt* const own = best_attempt();
        const double seconds = own != nullptr ? own->solve_seconds : solve_seconds;
        return iterations > 0 ? seconds / static_cast<double>(iterations) : 0;
    }
};

/// Thrown instead of returning a failure, where solver_options::on_failure says so.
class not_converged : public error {
public:
    explicit not_converged(solve_result r);
    [[nodiscard]] const solve_result& result() const noexcept { return result_; }

private:
    solve_result result_;
};

} // namespace krylith
