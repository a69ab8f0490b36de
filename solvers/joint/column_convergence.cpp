#include <krylith/solvers/joint/column_convergence.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace krylith {

namespace {

reason reason_of(loop_state state) {
    switch (state) {
    case loop_state::diverged: return reason::diverged;
    case loop_state::indefinite_matrix: return reason::indefinite_matrix;
    case loop_state::indefinite_preconditioner: return reason::indefinite_preconditioner;
    case loop_state::not_a_number: return reason::not_a_number;
    case loop_state::breakdown: return reason::breakdown;
    case loop_state::stagnated: return reason::stagnated;
    default: return reason::max_iterations;
    }
}

std::string diagnosis_of(reason why) {
    switch (why) {
    case reason::max_iterations:
        return "the iterations ran out: allow more, or take another preconditioner";
    case reason::diverged: return "the residual grew: A may not be symmetric positive definite";
    case reason::indefinite_matrix:
        return "p'Ap <= 0: A is not positive definite; minres and gmres don't ask for that";
    case reason::indefinite_preconditioner:
        return "r'z <= 0: M is not positive definite, as one of a diagonal with negative entries: "
               "solve without it";
    case reason::not_a_number: return "NaN or infinity in b, x0 or A";
    case reason::breakdown: return "the method broke down twice without progress: gmres can't";
    case reason::stagnated:
        return "no more progress: the true residual doesn't follow; ask for less";
    case reason::out_of_range:
        return "squares of b leave the range of double: a solve of this column alone scales it";
    case reason::interrupted: return "a stop was requested: x is the iterate of that time";
    case reason::time_limit: return "max_seconds are over: x is the iterate of that time";
    default: return {};
    }
}

} // namespace

void column_convergence::begin(const solver_options& options, std::int64_t iteration_limit) {
    options_ = options;
    limit_ = iteration_limit;
    results_.assign(static_cast<std::size_t>(k_), {});
    for (int j = 0; j < k_; ++j) {
        const double norm = std::sqrt(number(at_.rr(), j));
        result(j).rtol = *options_.rtol;
        result(j).rhs_norm = norm;
        const double target = std::max(*options_.rtol * norm, options_.atol);
        set(at_.target(), j, target * target);
        set(at_.iterations(), j, 0);
        set(at_.state(), j, 0);
    }
    kept_ = numbers_;
    best_.assign(static_cast<std::size_t>(k_), std::numeric_limits<double>::infinity());
}

void column_convergence::start() {
    for (int j = 0; j < k_; ++j) {
        const double bb = kept_[static_cast<std::size_t>(at_.rr() + j)];
        const double rr = number(at_.rr(), j);
        for (const int place : {at_.target(), at_.iterations(), at_.state()})
            set(place, j, kept_[static_cast<std::size_t>(place + j)]);
        set(at_.residual(), j, rr);
        // From a start far off, growth is measured by the first residual, as in cg().
        const double tolerance = options_.divergence_tolerance;
        set(at_.ceiling(), j, tolerance * tolerance * std::max(bb, rr));
        if (std::isnan(rr) || std::isnan(bb))
            finish(j, reason::not_a_number);
        else if (std::isinf(rr) || (bb != 0 && !is_ordinary(bb, static_cast<int>(value_bytes_))))
            finish(j, reason::out_of_range);
        else if (rr <= number(at_.target(), j))
            finish(j, converged_reason(j));
        else
            resume(j);
    }
}

bool column_convergence::runs() const {
    for (int j = 0; j < k_; ++j)
        if (number(at_.state(), j) == 0.0) return true;
    return false;
}

double column_convergence::launch() {
    started_.resize(static_cast<std::size_t>(k_));
    double most = 0;
    for (int j = 0; j < k_; ++j) {
        const bool iterates = number(at_.state(), j) == 0.0;
        started_[static_cast<std::size_t>(j)] = iterates;
        if (iterates) most = std::max(most, number(at_.iterations(), j));
    }
    return most;
}

reason column_convergence::converged_reason(int j) const {
    const solve_result& result = results_[static_cast<std::size_t>(j)];
    return options_.atol <= *options_.rtol * result.rhs_norm ? reason::converged_rtol
                                                             : reason::converged_atol;
}

void column_convergence::finish(int j, reason why) {
    if (number(at_.state(), j) == 0.0) set(at_.state(), j, as_register(loop_state::converged));
    solve_result& r = result(j);
    r.reason = why;
    r.iterations = static_cast<std::int64_t>(number(at_.iterations(), j));
    r.recurrence_residual = std::sqrt(number(at_.residual(), j));
    r.true_residual = std::sqrt(number(at_.rr(), j));
    r.diagnosis = cycles_ && why == reason::stagnated
                      ? "a whole cycle made no progress: allow a longer restart, or ask for less"
                      : diagnosis_of(why);
}

void column_convergence::resume(int j) {
    const loop_state begun = begin_(numbers_.data(), at_, j, static_cast<int>(value_bytes_));
    set(at_.state(), j, 0);
    if (number(at_.iterations(), j) >= static_cast<double>(limit_))
        finish(j, reason::max_iterations);
    else if (begun != loop_state::running)
        finish(j, reason_of(begun));
}

void column_convergence::begin_cycle(int j) {
    const double rr = number(at_.rr(), j);
    double& best = best_[static_cast<std::size_t>(j)];
    // The limit may have cut the cycle: then it says nothing. The rule is that of gmres().
    const bool whole = state(j) != loop_state::running;
    const bool progress = rr < (1 - 1e-6) * best;
    if (whole) best = rr;
    if (rr > number(at_.ceiling(), j))
        finish(j, reason::diverged);
    else if (number(at_.iterations(), j) >= static_cast<double>(limit_))
        finish(j, reason::max_iterations);
    else if (whole && !progress)
        finish(j, reason::stagnated);
    else
        resume(j);
}

void column_convergence::verify(std::optional<reason> told, bool recorded) {
    for (int j = 0; j < k_; ++j) {
        if (!started_[static_cast<std::size_t>(j)]) continue;
        solve_result& r = result(j);
        r.recorded = recorded;
        const double rr = number(at_.rr(), j);
        const loop_state why = state(j);
        if (std::isfinite(rr) && rr <= number(at_.target(), j))
            finish(j, cycles_ && why == loop_state::breakdown ? reason::happy_breakdown
                                                              : converged_reason(j));
        else if (!std::isfinite(rr))
            finish(j, reason::not_a_number);
        else if (why != loop_state::converged && why != loop_state::running &&
                 why != loop_state::breakdown && why != loop_state::pause)
            finish(j, reason_of(why));
        else if (told)
            finish(j, *told);
        else if (cycles_)
            begin_cycle(j);
        else if (why == loop_state::running)
            finish(j, reason::max_iterations);
        else if (r.replacements > 0 && rr > r.true_residual * r.true_residual / 16)
            finish(j, why == loop_state::breakdown ? reason::breakdown : reason::stagnated);
        else {
            ++r.replacements;
            r.true_residual = std::sqrt(rr);
            resume(j);
        }
    }
}

} // namespace krylith
