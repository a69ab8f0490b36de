#include <krylith/solvers/result.hpp>

#include <cmath>
#include <utility>

namespace krylith {

const char* to_string(reason why) noexcept {
    switch (why) {
    case reason::converged_rtol: return "converged_rtol";
    case reason::converged_atol: return "converged_atol";
    case reason::converged_rtol_normal: return "converged_rtol_normal";
    case reason::happy_breakdown: return "happy_breakdown";
    case reason::max_iterations: return "max_iterations";
    case reason::diverged: return "diverged";
    case reason::breakdown: return "breakdown";
    case reason::indefinite_matrix: return "indefinite_matrix";
    case reason::indefinite_preconditioner: return "indefinite_preconditioner";
    case reason::not_a_number: return "not_a_number";
    case reason::stagnated: return "stagnated";
    case reason::attainable_accuracy: return "attainable_accuracy";
    case reason::out_of_range: return "out_of_range";
    case reason::stopped_by_user: return "stopped_by_user";
    case reason::interrupted: return "interrupted";
    case reason::time_limit: return "time_limit";
    }
    return "unknown";
}

const solve_attempt* solve_result::best_attempt() const noexcept {
    const solve_attempt* best = nullptr;
    for (const solve_attempt& attempt : attempts)
        if (best == nullptr || attempt.relative_residual < best->relative_residual ||
            !std::isfinite(best->relative_residual))
            best = &attempt;
    return best;
}

not_converged::not_converged(solve_result r)
    : error(std::string("not converged: ") + to_string(r.reason) + " after " +
            std::to_string(r.iterations) + " iterations: " + r.diagnosis),
      result_(std::move(r)) {}

} // namespace krylith
