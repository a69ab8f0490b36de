#include <krylith/solvers/joint/column_convergence.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <krylith/solvers/iteration/diagnosis.hpp>

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

double epsilon_of(std::size_t value_bytes) {
    return value_bytes == 8 ? std::numeric_limits<double>::epsilon()
                            : std::numeric_limits<float>::epsilon();
}

} // namespace

void column_convergence::reset() {
    std::ranges::fill(numbers_, 0.0);
    for (int j = 0; j < k_; ++j) {
        set(at_.factor(), j, 1);
        set(at_.inverse_factor(), j, 1);
    }
    std::ranges::fill(columns_, column{});
}

template <class T>
bool column_convergence::choose_scaled(std::span<const T> b, std::int64_t rows) {
    const auto n = static_cast<std::size_t>(rows);
    for (int j = 0; (at(j) + 1) * n <= b.size(); ++j) {
        column_scale& c = scale(j);
        const double squares[] = {number(at_.rr(), j), number(at_.extra(), j)};
        c.zero = squares[0] == 0 &&
                 std::ranges::all_of(b.subspan(at(j) * n, n), [](T value) { return value == 0; });
        c.scaled = !c.zero && !std::ranges::all_of(squares, [](double square) {
            return is_ordinary(square, sizeof(T));
        });
    }
    return any_scaled();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool column_convergence::choose_scaled(std::span<const T>, std::int64_t);
#include <krylith/device/language/instantiate.inc>

bool column_convergence::any_scaled() const {
    return std::ranges::any_of(columns_, [](const column& c) { return c.scale.scaled; });
}

void column_convergence::begin(const solver_options& options, std::int64_t iteration_limit) {
    options_ = options;
    limit_ = iteration_limit;
    for (int j = 0; j < k_; ++j) {
        column& c = columns_[at(j)];
        c.bb = number(at_.rr(), j);
        c.best = std::numeric_limits<double>::infinity();
        const double norm = std::sqrt(c.bb);
        c.result.rtol = *options_.rtol;
        c.result.rhs_norm = std::ldexp(norm, -c.scale.b);
        c.target = std::max(*options_.rtol * norm, std::ldexp(options_.atol, c.scale.b));
        // The recurrence can fall further than the true residual, so the loop also stops at a floor
        // (iteration_control::set_controls).
        const double aim = std::max(c.target, 0.25 * epsilon_of(8) * norm);
        set(at_.target(), j, aim * aim);
        set(at_.factor(), j, std::ldexp(1.0, c.scale.a));
        set(at_.inverse_factor(), j, std::ldexp(1.0, c.scale.m));
    }
}

void column_convergence::start() {
    for (int j = 0; j < k_; ++j) {
        const double rr = number(at_.rr(), j);
        set(at_.residual(), j, rr);
        // From a start far off, growth is measured by the first residual, as in cg().
        const double tolerance = options_.divergence_tolerance;
        set(at_.ceiling(), j, tolerance * tolerance * std::max(columns_[at(j)].bb, rr));
        if (!std::isfinite(rr) || !columns_[at(j)].scale.finite)
            finish(j, reason::not_a_number);
        else if (reached(j))
            finish(j, converged_reason(j));
        else if (columns_[at(j)].exact)
            finish(j, reason::attainable_accuracy);
        else
            resume(j);
    }
}

bool column_convergence::reached(int j) const {
    const double rr = number(at_.rr(), j);
    return std::isfinite(rr) && std::sqrt(rr) <= columns_[at(j)].target;
}

bool column_convergence::doubtful(int j, const std::optional<matrix_norms>& norms) const {
    const column& c = columns_[at(j)];
    const double xx = number(at_.xx(), j);
    // The residual of x = 0 is b. Squares may vanish where x doesn't.
    if (!reached(j) || (xx == 0 && number(at_.rr(), j) == c.bb)) return false;
    return !norms || !(norms->rounding(epsilon_of(value_bytes_), number(at_.factor(), j), xx,
                                       c.bb) <= c.target);
}

void column_convergence::set_exact(int j, const residual_sums& sums) {
    // Where squares vanish, all or some, the residual may still be there.
    constexpr double least = std::numeric_limits<double>::min();
    set(at_.rr(), j, sums.largest > 0 ? std::max(sums.rr, least) : sums.rr);
    columns_[at(j)].exact = true;
    const double rounding =
        residual_rounding(sums.longest_row, epsilon_of(value_bytes_), std::sqrt(sums.sizes));
    columns_[at(j)].result.residual_rounding = std::ldexp(rounding, -columns_[at(j)].scale.b);
}

bool column_convergence::runs() const {
    for (int j = 0; j < k_; ++j)
        if (number(at_.state(), j) == 0.0) return true;
    return false;
}

double column_convergence::launch() {
    double most = 0;
    for (int j = 0; j < k_; ++j) {
        const bool iterates = number(at_.state(), j) == 0.0;
        columns_[at(j)].started = iterates;
        if (iterates) most = std::max(most, number(at_.iterations(), j));
    }
    return most;
}

reason column_convergence::converged_reason(int j) const {
    const column& c = columns_[at(j)];
    return std::sqrt(number(at_.rr(), j)) <= *options_.rtol * std::sqrt(c.bb)
               ? reason::converged_rtol
               : reason::converged_atol;
}

void column_convergence::finish(int j, reason why) {
    if (number(at_.state(), j) == 0.0) set(at_.state(), j, as_register(loop_state::converged));
    const int exponent = -columns_[at(j)].scale.b;
    solve_result& r = columns_[at(j)].result;
    r.reason = why;
    r.iterations = static_cast<std::int64_t>(number(at_.iterations(), j));
    r.recurrence_residual = std::ldexp(std::sqrt(number(at_.residual(), j)), exponent);
    r.true_residual = std::ldexp(std::sqrt(number(at_.rr(), j)), exponent);
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
    double& best = columns_[at(j)].best;
    // The limit may have cut the cycle: then it says nothing. The rule is that of gmres().
    const bool whole = state(j) != loop_state::running;
    const bool progress = rr < (1 - 1e-6) * best;
    if (whole) best = rr;
    if (rr > number(at_.ceiling(), j))
        finish(j, reason::diverged);
    else if (number(at_.iterations(), j) >= static_cast<double>(limit_))
        finish(j, reason::max_iterations);
    else if (whole && !progress)
        finish(j, state(j) == loop_state::not_a_number ? reason::not_a_number : reason::stagnated);
    else
        resume(j);
}

void column_convergence::judge(int j, loop_state why) {
    column& c = columns_[at(j)];
    const double rr = number(at_.rr(), j);
    const bool fell = c.previous < 0 || rr <= 0.25 * c.previous;
    c.previous = rr;
    if (why == loop_state::running || (why == loop_state::converged &&
                                       number(at_.iterations(), j) >= static_cast<double>(limit_)))
        return finish(j, reason::max_iterations);
    if (!fell) return finish(j, why == loop_state::converged ? reason::stagnated : reason_of(why));
    ++c.result.replacements;
    resume(j);
}

void column_convergence::verify(std::optional<reason> told, bool recorded) {
    for (int j = 0; j < k_; ++j) {
        column& c = columns_[at(j)];
        if (!c.started) continue;
        c.result.recorded = recorded;
        const loop_state why = state(j);
        if (reached(j))
            finish(j, cycles_ && why == loop_state::breakdown ? reason::happy_breakdown
                                                              : converged_reason(j));
        else if (!std::isfinite(number(at_.rr(), j)))
            finish(j, reason::not_a_number);
        else if (c.exact)
            finish(j, reason::attainable_accuracy);
        else if (why != loop_state::converged && why != loop_state::running &&
                 why != loop_state::breakdown && why != loop_state::not_a_number &&
                 why != loop_state::pause)
            finish(j, reason_of(why));
        else if (told)
            finish(j, *told);
        else
            cycles_ ? begin_cycle(j) : judge(j, why);
    }
}

void column_convergence::check_shifted(int j) {
    const solve_result& r = columns_[at(j)].result;
    finish(j, r.converged() && !reached(j) ? reason::out_of_range : r.reason);
}

std::vector<solve_result> column_convergence::results() const {
    std::vector<solve_result> all;
    for (const column& c : columns_) {
        all.push_back(c.result);
        if (!c.result.converged())
            all.back().diagnosis = diagnosis(c.result, epsilon_of(value_bytes_));
    }
    return all;
}

} // namespace krylith
