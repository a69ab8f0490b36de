#include <krylith/solvers/automatic/attempts.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/diagnosis.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

namespace {

/// An x is worth starting from if its residual is at most this times that of the attempt's start.
constexpr double worth_keeping = 0.1;

/// CG that has so few iterations for itself is left where half of them in a row don't bring ||r||
/// below this times what it was: of those that were to converge in time, of 144 and 110 solves, one
/// and two were left by it.
constexpr double hopeful_gain = 0.03;

/// ||A'r|| of at most this part of ||A|| ||r|| says that no x has a smaller r, or nearly.
constexpr double least_residual = 1e-4;

constexpr std::int64_t least_iterations = 1000;
constexpr std::int64_t least_patience = 500;
constexpr std::int64_t most_patience = 2000;

std::int64_t usual_limit(const solver_method& solver, std::int64_t n) {
    const std::int64_t limit = solver.needs_spd ? std::min<std::int64_t>(50 * n, 50000)
                                                : std::min<std::int64_t>(10 * n, 10000);
    return std::max(limit, least_iterations);
}

/// Whether another method may do better than one that ended like this.
template <class T>
bool may_go_on(const solve_result& r, bool from_guess) {
    // A thousand roundings are what no other method improves on.
    const double rounding = 1e3 * std::numeric_limits<T>::epsilon();
    if (was_stopped(r)) return false;
    switch (r.reason) {
    case reason::out_of_range: return false;
    case reason::stagnated:
    case reason::attainable_accuracy: return r.relative_residual() > rounding;
    case reason::not_a_number: return (r.iterations > 0 || from_guess) && std::isfinite(r.rhs_norm);
    default: return !r.converged();
    }
}

/// What least squares that got no further say of a square system.
std::string no_solution(const solve_result& r) {
    return "||A'(b - A x)|| is " + number_text(r.normal->relative, 2) +
           " of ||A|| ||b - A x||, so this x has the least residual, or nearly, which is " +
           number_text(r.relative_residual(), 2) +
           " of ||b||: A is singular, or nearly, and b outside of its range";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

template <class T>
attempts<T>::attempts(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                      const solver_options& options, const matrix_ref<T>* matrix,
                      const matrix_nodes& nodes, std::optional<distributed_csr<T>>* lent)
    : a_(a), matrix_(matrix), lent_(lent), nodes_(nodes), b_(&b), x_(x), options_(options) {
    options_.check();
    options_.on_failure = failure_policy::status;
    if (b.layout() != a.range_layout() || x.layout() != a.domain_layout())
        throw usage_error("b and x of a solve must be vectors of its operator");
    if (b.overlaps(x)) {
        copy(b, own_b_.emplace(b.layout()));
        b_ = &*own_b_;
    }
    if (options.initial_guess) copy(x, guess_.emplace(x.layout()));
}

template <class T>
void attempts<T>::copy(const vector<T>& from, vector<T>& to) const {
    execution run(a_.comm(), {.timeout_seconds = options_.timeout_seconds});
    fused(run, to = from);
    a_.comm().synchronize();
}

template <class T>
double attempts<T>::residual_norm(const vector<T>& x) const {
    auto domain = a_.make_domain_vector();
    auto r = a_.make_range_vector();
    execution run(a_.comm(), {.timeout_seconds = options_.timeout_seconds});
    try {
        scalar rr(run);
        fused(run, domain = x);
        residual(run, a_, *b_, domain, r, rr = dot(r, r));
        const double squared = run.get(rr.number());
        a_.comm().synchronize();
        return std::sqrt(squared);
    } catch (...) {
        run.quiesce(); // peers write into the vectors, which are about to be freed
        throw;
    }
}

template <class T>
solver_options attempts<T>::options_for(const planned_method& method, bool last) const {
    solver_options o = options_;
    o.preconditioning = method.on_side;
    o.restart = method.restart;
    o.max_iterations = options_.max_iterations >= 0 ? options_.max_iterations - iterations_
                                                    : usual_limit(*method.solver, a_.columns());
    if (method.most_iterations > 0)
        o.max_iterations = std::min(o.max_iterations, method.most_iterations);
    if (!last && !method.solver->needs_spd)
        o.stagnation_window = std::min(o.stagnation_window,
                                       std::clamp(2 * a_.columns(), least_patience, most_patience));
    if (is_left_half_way(method, last)) {
        o.stagnation_window = std::min(o.stagnation_window, method.most_iterations / 2);
        o.stagnation_gain = std::min(o.stagnation_gain, hopeful_gain);
    }
    if (options_.callback)
        o.callback = [this](progress now) {
            now.iteration += iterations_;
            return options_.callback(now);
        };
    o.max_seconds = std::max(0.0, seconds_left());
    if (wants_more_than_least_residual(method)) o.rtol_normal = 0;
    return o;
}

/// Whether a method that has few iterations for itself is left when its residual falls too slowly
/// for them. A guess, and a tolerance that is nearly reached at the start, leave too little to
/// judge by.
template <class T>
bool attempts<T>::is_left_half_way(const planned_method& method, bool last) const {
    const double wanted = options_.rtol.value_or(default_rtol<T>());
    return !last && method.solver->needs_spd && method.most_iterations > 0 && !guess_ &&
           wanted < hopeful_gain * hopeful_gain;
}

/// Whether an x of least residual is no solution: that of a square system isn't.
template <class T>
bool attempts<T>::wants_more_than_least_residual(const planned_method& method) const {
    return method.solver->least_squares && a_.rows() == a_.columns() && options_.damping == 0;
}

template <class T>
const matrix_operator<T>& attempts<T>::operator_for(const planned_method& method) {
    if (!method.solver->least_squares || a_.has_transposed()) return a_;
    if (with_transposed_ == nullptr)
        with_transposed_ =
            make_operator(a_.layouts(), *matrix_->on_host(), {.transposed_products = true});
    return *with_transposed_;
}

template <class T>
double attempts<T>::seconds_left() const {
    return options_.max_seconds - seconds_since(began_);
}

template <class T>
bool attempts<T>::no_time_is_left() const {
    return a_.comm().any(seconds_left() <= 0);
}

template <class T>
bool attempts<T>::begin() {
    if (!best_) return guess_.has_value(); // no attempt has changed x
    if (best_result_.true_residual <= worth_keeping * std::fmin(rhs_norm_, guess_residual_)) {
        copy(*best_, x_);
        return true;
    }
    // A guess that is worse than x = 0 has shown what it is worth.
    if (!guess_ || !(guess_residual_ <= rhs_norm_)) return false;
    copy(*guess_, x_);
    return true;
}

template <class T>
void attempts<T>::keep(const solve_result& result) {
    if (!best_) {
        rhs_norm_ = result.rhs_norm;
        if (guess_) guess_residual_ = residual_norm(*guess_);
    }
    // What is no worse but for rounding tells more where least squares have found it.
    const double least = (result.normal ? 1.001 : 1) * best_result_.true_residual;
    const bool better =
        !best_ || result.true_residual < least || !std::isfinite(best_result_.true_residual);
    if (!better) return;
    if (!best_) best_.emplace(x_.layout());
    copy(x_, *best_);
    best_result_ = result;
}

template <class T>
solve_result attempts<T>::attempt(const planned_method& method, bool last,
                                  const any_preconditioner<T>* prepared,
                                  std::chrono::steady_clock::time_point start) {
    static const any_preconditioner<T> none;
    const any_preconditioner<T>& m = prepared != nullptr ? *prepared : none;
    solver_options options = options_for(method, last);
    options.initial_guess = begin();
    const matrix_operator<T>& a = operator_for(method);
    const double making = seconds_since(start);
    solve_result result = method.solver->solve(a, *b_, x_, options, m);
    // A'(b - A x) may be 0 exactly, which no tolerance excludes.
    if (result.reason == reason::converged_rtol_normal && wants_more_than_least_residual(method))
        result.reason = reason::stagnated;
    const double target = std::max(result.rtol * result.rhs_norm, options_.atol);
    if (is_left_half_way(method, last) && result.reason == reason::stagnated &&
        result.recurrence_residual > target) {  // else it is the arithmetic that carries no further
        result.reason = reason::max_iterations; // it would have had no more than these
        result.diagnosis = diagnosis(result, std::numeric_limits<T>::epsilon());
    }
    result.setup_seconds += making;
    solve_attempt tried;
    tried.solver = method.solver->name;
    tried.preconditioner = m.name();
    tried.preconditioner_bytes = m.bytes();
    tried.levels = m.levels();
    if (method.solver->has_sides && !m.is_identity()) tried.side = to_string(method.on_side);
    if (method.solver->restarts)
        tried.restart = static_cast<int>(std::min<std::int64_t>(method.restart, a_.columns()));
    tried.because = method.because;
    tried.reason = result.reason;
    tried.iterations = result.iterations;
    tried.seconds = seconds_since(start);
    tried.solve_seconds = result.solve_seconds;
    tried.relative_residual = result.relative_residual();
    tried_.push_back(std::move(tried));
    iterations_ += result.iterations;
    setup_seconds_ += result.setup_seconds;
    solve_seconds_ += result.solve_seconds;
    return result;
}

/// Whether the last M was by itself as the parameters would make it.
template <class T>
bool attempts<T>::was_made_so(const planned_method& method) const {
    return !method.parameters.empty() && !tried_.empty() &&
           tried_.back().preconditioner.starts_with(method.preconditioner->name) &&
           tried_.back().preconditioner.find(method.parameters) != std::string::npos;
}

/// What the clock leaves no time for isn't begun. x, if there is none yet, is where it would begin.
template <class T>
solve_result attempts<T>::out_of_time(const planned_method& method, double making) {
    const std::string name = method.preconditioner == nullptr
                                 ? identity::name()
                                 : std::string(method.preconditioner->name);
    const bool stopped = a_.comm().any(options_.stop.stop_requested());
    const reason because = stopped ? reason::interrupted : reason::time_limit;
    std::string why = (stopped ? "a stop was requested before "
                               : "max_seconds is " + number_text(options_.max_seconds) +
                                     ", and no time was left for ") +
                      std::string(method.solver->name) + " with " + name;
    if (making > 0) why += ", whose set-up took " + number_text(making, 2) + " s";
    solve_attempt tried;
    tried.solver = method.solver->name;
    tried.preconditioner = name;
    tried.because = method.because;
    tried.refused = why;
    tried.reason = because;
    tried.seconds = making;
    tried.relative_residual = std::numeric_limits<double>::infinity();
    if (best_) {
        tried_.push_back(std::move(tried));
        best_result_.reason = because;
        best_result_.diagnosis = why;
        setup_seconds_ += making;
        return nearest({});
    }
    solver_options options = options_for(method, true);
    options.max_iterations = 0;
    options.initial_guess = begin();
    solve_result result =
        method.solver->solve(operator_for(method), *b_, x_, options, any_preconditioner<T>());
    if (!result.converged()) {
        result.reason = because;
        result.diagnosis = why;
        tried.relative_residual = result.relative_residual();
    } else {
        tried.refused.clear();
        tried.preconditioner = identity::name();
        tried.reason = result.reason;
        tried.relative_residual = result.relative_residual();
    }
    setup_seconds_ += result.setup_seconds + making;
    solve_seconds_ += result.solve_seconds;
    tried_.push_back(std::move(tried));
    return with_attempts(std::move(result));
}

template <class T>
solve_result attempts<T>::with_attempts(solve_result result) {
    result.attempts = std::move(tried_);
    result.setup_seconds = setup_seconds_;
    result.solve_seconds = solve_seconds_;
    return result;
}

template <class T>
solve_result attempts<T>::nearest(const std::string& stopped_by) {
    copy(*best_, x_);
    best_result_ = with_attempts(std::move(best_result_));
    if (was_stopped(best_result_)) return best_result_;
    const double at_start = std::fmin(rhs_norm_, guess_residual_);
    if (!(best_result_.true_residual <= at_start)) { // all have gone astray
        if (guess_residual_ <= rhs_norm_)
            copy(*guess_, x_);
        else
            x_.zero();
        best_result_.true_residual = at_start;
    }
    if (best_result_.reason == reason::stagnated && best_result_.normal &&
        best_result_.normal->relative <= least_residual)
        best_result_.diagnosis = no_solution(best_result_);
    best_result_.diagnosis = "none of " + std::to_string(best_result_.attempts.size()) +
                             " methods converged; the nearest: " + best_result_.diagnosis +
                             (stopped_by.empty() ? "" : ". The last ended with: " + stopped_by);
    return best_result_;
}

template <class T>
solve_result attempts<T>::run(std::span<const planned_method> plan,
                              const any_preconditioner<T>* given) {
    const std::vector<planned_method> methods =
        given == nullptr ? in_order(plan) : std::vector<planned_method>(plan.begin(), plan.end());
    const preconditioner_method* const first = methods.front().preconditioner;
    if (lent_ != nullptr && (first == nullptr || !first->needs_matrix)) lent_->reset();
    std::string stopped_by;
    bool definite = true; // nothing has shown that A is not
    for (std::size_t k = 0; k < methods.size(); ++k) {
        if (!definite && methods[k].solver->needs_spd) continue;
        if (was_made_so(methods[k])) continue;
        const bool last = k + 1 == methods.size();
        const bool made = given == nullptr && methods[k].preconditioner != nullptr;
        const any_preconditioner<T>* m = given;
        const auto start = std::chrono::steady_clock::now();
        if ((made || best_) && no_time_is_left()) return out_of_time(methods[k], 0);
        if (made) {
            const auto over = [&] { return seconds_left() <= 0 || options_.stop.stop_requested(); };
            try {
                const interruption ends(over);
                m = prepared(methods[k], last);
            } catch (const interrupted_error&) {
                if (!a_.comm().any(over())) throw; // the caller has another interruption
                return out_of_time(methods[k], seconds_since(start));
            }
            if (m == nullptr) {
                setup_seconds_ += tried_.back().seconds = seconds_since(start);
                continue;
            }
            if (no_time_is_left()) return out_of_time(methods[k], seconds_since(start));
        }
        try {
            solve_result result = attempt(methods[k], last, m, start);
            if (given == nullptr && result.converged()) remember(methods[k], result.iterations);
            const bool spent =
                options_.max_iterations >= 0 && iterations_ >= options_.max_iterations;
            const bool may = may_go_on<T>(result, guess_.has_value());
            definite = definite && result.reason != reason::indefinite_matrix;
            if (may && !spent && !last && takes_mean_from_rhs()) {
                auto solved = run_without_mean(plan, given, result.rhs_norm);
                if (solved) return *std::move(solved);
                continue;
            }
            const bool over = last || spent || !may;
            if (result.converged() || (over && !best_)) return with_attempts(std::move(result));
            keep(result);
            const preconditioner_method* const row = methods[k].preconditioner;
            if (given == nullptr && row != nullptr && !row->pointwise && !was_stopped(result))
                a_.kept().preconditioner.reset(); // of values that may have drifted away
            if (was_stopped(result)) {
                best_result_.reason = result.reason;
                best_result_.diagnosis = result.diagnosis;
            }
            if (over) break;
        } catch (const device_error& failure) { // such as too little memory for a long basis
            if (!best_) throw;
            stopped_by = failure.what();
            break;
        }
    }
    return nearest(stopped_by);
}

#define KRYLITH_INSTANTIATE(T) template class attempts<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
