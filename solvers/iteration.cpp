#include <krylith/solvers/iteration.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/iteration/diagnosis.hpp>
#include <krylith/solvers/iteration/mocked_history.hpp>
#include <krylith/solvers/iteration/spectrum.hpp>

namespace krylith {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

double seconds(std::chrono::steady_clock::time_point from) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

std::int64_t limit_of(const solver_options& options, std::int64_t n) {
    return options.max_iterations >= 0 ? options.max_iterations
                                       : std::min<std::int64_t>(10 * n, 10000);
}

/// The iterations whose residuals and coefficients the devices keep: 8 or 24 MB. A longer solve
/// pauses each time that half of them are new, and the host reads them. A cycle is shorter.
constexpr std::int64_t most_recorded = std::int64_t{1} << 20;
std::atomic<std::int64_t> most_in_force = most_recorded;

std::int64_t history_of(const solver_options& options, std::int64_t limit) {
    return options.history ? std::min(limit, most_in_force.load() - 1) + 1 : 0;
}

execution_options settings(execution_options sizes, const solver_options& options,
                           const std::string& unrecordable, std::int64_t limit, bool cycles,
                           int kernels) {
    sizes.mode = options.mode;
    if (!unrecordable.empty()) {
        if (options.mode == execution_mode::recorded)
            throw usage_error(unrecordable + " can't be recorded: use mode automatic or eager");
        sizes.mode = execution_mode::eager;
    }
    sizes.unroll = cycles ? 1 : iterations_a_trip(kernels, options.unroll, unrecordable.empty());
    sizes.timeout_seconds = options.timeout_seconds;
    sizes.history_size = history_of(options, limit);
    return sizes;
}

} // namespace

mocked_history::mocked_history(std::int64_t iterations) noexcept {
    most_in_force = iterations;
}

mocked_history::~mocked_history() {
    most_in_force = most_recorded;
}

int iterations_a_trip(int kernels, int most, bool recordable) {
    constexpr int most_kernels = 112;
    if (!recordable) return 1;
    return std::clamp(most_kernels / (kernels + 3), 1, most);
}

iteration_control::iteration_control(const communicator& comm, const solver_options& options,
                                     std::int64_t n, const std::string& unrecordable,
                                     execution_options sizes, bool cycles, int kernels)
    : options_((options.check(), options)),
      n_(n),
      limit_(limit_of(options, n)),
      history_size_(history_of(options, limit_)),
      run_(comm, settings(sizes, options, unrecordable, limit_, cycles, kernels)),
      recordable_(unrecordable.empty()) {}

bool iteration_control::suits(const solver_options& options,
                              const std::string& unrecordable) const {
    return history_size_ >= history_of(options, limit_of(options, n_)) &&
           recordable_ == unrecordable.empty() && options_.mode == options.mode &&
           options_.unroll == options.unroll && options_.restart == options.restart &&
           options_.polynomial_degree == options.polynomial_degree &&
           options_.shadow_vectors == options.shadow_vectors &&
           (options_.damping == 0) == (options.damping == 0) &&
           options_.preconditioning == options.preconditioning &&
           options_.timeout_seconds == options.timeout_seconds;
}

void iteration_control::restart(const solver_options& options) {
    options.check();
    if (used_) began_ = clock::now(); // else with the constructor
    used_ = true;
    options_ = options;
    limit_ = limit_of(options_, n_);
    recording_seconds_ = 0;
    result_ = {};
    result_.rtol = *options_.rtol;
    scale_ = 1;
    bb_ = 0;
    start_rr_ = 0;
    last_true_ = -1;
    xx_ = 0;
    doubled_ = false;
    one_cycle_ = false;
    normal_rr_ = -1;
    normal_rr_before_ = -1;
    matrix_norm_squared_ = 0;
    starts_.clear();
    history_ = {};
    told_.reset();
    last_told_ = -1;
}

double iteration_control::target() const {
    return std::max(*options_.rtol * std::sqrt(bb_), options_.atol * scale_);
}

bool iteration_control::is_small(double rr) const {
    // The norm must be finite: where b holds an infinity the target is infinite too.
    return std::isfinite(rr) && std::sqrt(rr) <= target();
}

void iteration_control::set_controls(std::int64_t iteration) {
    starts_.push_back(iteration);
    history_.go_back(iteration);
    callback_at_ = next_callback(iteration);
    // The recurrence can fall further than the true residual, so the loop also stops at this floor.
    const double floor = 0.25 * epsilon * std::sqrt(bb_);
    const double aim = std::max(target(), floor);
    const double ceiling = options_.divergence_tolerance * std::sqrt(std::max(bb_, start_rr_));
    run_.set(control::state, as_register(loop_state::running));
    run_.set(control::iteration, static_cast<double>(iteration));
    run_.set(control::target, aim * aim);
    run_.set(control::limit, static_cast<double>(limit_));
    set_next_pause(iteration);
    run_.set(control::ceiling, ceiling * ceiling);
    run_.set(control::residual, start_rr_);
    run_.set(control::best, infinity);
    run_.set(control::best_at, static_cast<double>(iteration));
    run_.set(control::patience, patience());
}

double iteration_control::patience() const {
    return judges_normal_ ? infinity
                          : patience_with(static_cast<double>(options_.stagnation_window),
                                          options_.stagnation_gain * options_.stagnation_gain);
}

void iteration_control::set_controls(const scalar& bb, const scalar& rr) {
    // The same operations as above, which give the same bits.
    const auto constant = [&](double c) { return scalar_value{&run_, run_.constant(c)}; };
    const auto give = [&](std::uint8_t to, const scalar_value& v) { run_.take(to, v.number); };
    run_.set(control::iteration, 0);
    const scalar_value norm = sqrt(bb);
    const scalar_value wanted = maximum(constant(*options_.rtol) * norm, constant(options_.atol));
    give(control::target, wanted * wanted);
    test_start(rr);
    const scalar_value aim = maximum(wanted, constant(0.25 * epsilon) * norm);
    give(control::target, aim * aim);
    const scalar_value ceiling = constant(options_.divergence_tolerance) * sqrt(maximum(bb, rr));
    give(control::ceiling, ceiling * ceiling);
    run_.set(control::limit, static_cast<double>(limit_));
    run_.set(control::pause_at, infinity);
    run_.set(control::best, infinity);
    run_.set(control::best_at, 0);
    run_.set(control::patience, patience());
}

void iteration_control::prepare(const std::function<void()>& body) {
    const trace_range range("record the loop");
    const auto start = clock::now();
    run_.prepare(body);
    recording_seconds_ += seconds(start);
}

loop_report iteration_control::repeat(const std::function<void()>& body) {
    loop_report now{loop_state::running, result_.iterations, start_rr_};
    for (;;) {
        if (all_told_to_stop()) {
            now.state = loop_state::stopped;
            return now;
        }
        const loop_watcher watcher{now.iterations,
                                   [&](std::span<const loop_post> posts) { return look(posts); }};
        const trace_range range("loop");
        now = watches() ? run_.repeat(body, watcher) : run_.repeat(body);
        if (now.state == loop_state::stopped) (void)all_told_to_stop();
        if (now.state != loop_state::pause) return now;
        if (options_.history) read_history(now.iterations);
        if (static_cast<double>(now.iterations) >= callback_at_) {
            give_x();
            tell(now.iterations, std::sqrt(now.residual) / scale_);
            callback_at_ = next_callback(now.iterations);
        }
        if (one_cycle_) return now;
        set_next_pause(now.iterations);
        run_.set(control::state, as_register(loop_state::running));
    }
}

void iteration_control::set_next_pause(std::int64_t iteration) {
    const double full =
        outgrows_history() ? static_cast<double>(iteration + history_size_ / 2) : infinity;
    run_.set(control::pause_at,
             one_cycle_ ? static_cast<double>(iteration) : std::min(callback_at_, full));
}

double iteration_control::next_callback(std::int64_t iteration) const {
    const bool pauses = options_.callback && options_.callback_pauses;
    return pauses ? static_cast<double>(iteration) + static_cast<double>(options_.callback_interval)
                  : infinity;
}

bool iteration_control::outgrows_history() const {
    return options_.history && limit_ >= history_size_;
}

void iteration_control::read_history(std::int64_t last) {
    const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    const auto known = static_cast<std::int64_t>(history_.residuals.size());
    append(history_.residuals, run_.history(last + 1, known));
    const auto more = run_.coefficients(last + 1, std::max<std::int64_t>(1, known));
    append(history_.alpha, more.alpha);
    append(history_.beta, more.beta);
}

bool iteration_control::watches() const {
    return (options_.callback && !options_.callback_pauses) || options_.stop.stop_possible() ||
           options_.max_seconds < infinity;
}

void iteration_control::tell(std::int64_t iteration, double norm) {
    last_told_ = iteration;
    const next_step answer =
        options_.callback({iteration, norm, target() / scale_, std::sqrt(bb_) / scale_});
    if (answer == next_step::stop && !told_) told_ = reason::stopped_by_user;
}

bool iteration_control::look(std::span<const loop_post> posts) {
    if (options_.callback && !options_.callback_pauses)
        for (const loop_post& post : posts)
            if (!told_ && post.iteration % options_.callback_interval == 0)
                tell(post.iteration, std::sqrt(post.residual) / scale_);
    return told_to_stop();
}

bool iteration_control::told_to_stop() {
    if (!told_ && options_.stop.stop_requested()) told_ = reason::interrupted;
    if (!told_ && seconds(began_) >= options_.max_seconds) told_ = reason::time_limit;
    return told_.has_value();
}

bool iteration_control::stops_at_start(double rr) {
    if (options_.callback) tell(0, std::sqrt(rr) / scale_);
    return all_told_to_stop();
}

bool iteration_control::all_told_to_stop() {
    (void)told_to_stop();
    const communicator& comm = run_.comm();
    if (comm.has_one_driver()) return told_.has_value();
    auto told = by_rank(comm, [&](int) { return told_; });
    comm.all_gather(told);
    const auto first = std::ranges::find_if(told, [](const auto& one) { return one.has_value(); });
    told_ = first == told.end() ? std::nullopt : *first;
    return told_.has_value();
}

void iteration_control::set_normal_residual(double residual_squared, double matrix_squared,
                                            double true_rr, double factor) {
    normal_rr_before_ = normal_rr_;
    normal_rr_ = residual_squared;
    matrix_norm_squared_ = matrix_squared;
    const double norm = std::sqrt(residual_squared);
    const double most = std::sqrt(matrix_squared) * std::sqrt(true_rr);
    result_.normal = normal_residual{norm / scale_ / factor, std::sqrt(matrix_squared) / factor,
                                     norm == 0 ? 0 : norm / most};
}

bool iteration_control::at_least_squares(double norm) const {
    if (!judges_normal_ || normal_rr_ < 0) return false;
    const double least = *options_.rtol_normal * std::sqrt(matrix_norm_squared_) * norm;
    return std::isfinite(norm) && std::sqrt(normal_rr_) <= least; // false for NaN
}

bool iteration_control::no_progress(double previous, double true_rr, double much) const {
    const bool normal_fell =
        judges_normal_ && normal_rr_before_ >= 0 && normal_rr_ <= 0.25 * normal_rr_before_;
    return previous >= 0 && true_rr > much * previous && !normal_fell;
}

bool iteration_control::check_convergence(const loop_report& end, double true_rr) {
    const double norm = std::sqrt(true_rr);
    start_rr_ = true_rr; // the next attempt, if there is one, starts from it
    result_.iterations = end.iterations;
    result_.recurrence_residual = std::sqrt(end.residual) / scale_;
    result_.true_residual = norm / scale_;
    const double previous = last_true_;
    last_true_ = true_rr;
    if (is_small(true_rr)) {
        const bool relative = norm <= *options_.rtol * std::sqrt(bb_);
        result_.reason = relative ? reason::converged_rtol : reason::converged_atol;
        return true;
    }
    if (at_least_squares(norm)) {
        result_.reason = reason::converged_rtol_normal;
        return true;
    }
    const bool cycle_ended = one_cycle_ && end.state == loop_state::pause;
    const loop_state state = cycle_ended ? loop_state::running : end.state;
    const bool goes_on = state == loop_state::converged || state == loop_state::running ||
                         state == loop_state::breakdown;
    // A residual that is not finite would never count as progress or as none: the solve ends.
    if (goes_on && !std::isfinite(norm)) {
        result_.reason = reason::not_a_number;
        return true;
    }
    if (state == loop_state::converged || state == loop_state::running) {
        // The recurrence has drifted: continue from the true residual, unless that didn't help last
        // time.
        if (end.iterations >= limit_) {
            result_.reason = reason::max_iterations;
            return true;
        }
        if (!no_progress(previous, true_rr, cycle_ended ? 0.98 : 0.25)) return false;
        result_.reason = reason_of(loop_state::stagnated);
        return true;
    }
    // A restart from the true residual may get past a breakdown, as long as that residual keeps
    // falling.
    if (state == loop_state::breakdown && (previous < 0 || true_rr <= 0.25 * previous))
        return false;
    result_.reason = reason_of(state);
    return true;
}

reason iteration_control::reason_of(loop_state state) const {
    switch (state) {
    case loop_state::limit:
    case loop_state::pause: return reason::max_iterations;
    case loop_state::diverged: return reason::diverged;
    case loop_state::stagnated: return doubled_ ? reason::attainable_accuracy : reason::stagnated;
    case loop_state::not_a_number: return reason::not_a_number;
    case loop_state::breakdown: return reason::breakdown;
    case loop_state::indefinite_matrix: return reason::indefinite_matrix;
    case loop_state::indefinite_preconditioner: return reason::indefinite_preconditioner;
    case loop_state::stopped: // persistent kernels take a p'Ap of NaN for a stop, too
        if (told_) return *told_;
        return options_.stop.stop_requested() ? reason::interrupted : reason::not_a_number;
    case loop_state::converged:
    case loop_state::running:
    case loop_state::extreme: break; // the solve goes on, or begins anew
    }
    return result_.reason;
}

void iteration_control::check_shifted_convergence(double true_rr) {
    const double norm = std::sqrt(true_rr);
    result_.true_residual = norm / scale_;
    if (result_.converged() && !is_small(true_rr) && !at_least_squares(norm))
        result_.reason = reason::out_of_range;
}

void iteration_control::finish_history(double scale) {
    if (!options_.history) return;
    read_history(result_.iterations);
    for (const double value : history_.residuals)
        result_.history.push_back(std::sqrt(value) / scale_);
    const auto& [residuals, alpha, beta] = history_;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
        const auto last = k + 1 < starts_.size() ? starts_[k + 1] : result_.iterations;
        const auto first = static_cast<std::size_t>(starts_[k]);
        if (first >= alpha.size()) break;
        const auto count = std::min(static_cast<std::size_t>(last), alpha.size()) - first;
        result_.spectrum =
            joined(result_.spectrum, extreme_ritz_values(std::span(alpha).subspan(first, count),
                                                         std::span(beta).subspan(first, count)));
    }
    if (!result_.spectrum) return;
    result_.spectrum->smallest /= scale;
    result_.spectrum->largest /= scale;
}

solve_result iteration_control::finish() {
    const double workspace = std::chrono::duration<double>(started_ - began_).count();
    result_.setup_seconds = workspace + recording_seconds_;
    result_.solve_seconds = seconds(started_) - recording_seconds_;
    result_.recorded = run_.mode() == execution_mode::recorded;
    for (const int rank : run_.comm().local())
        result_.bytes.push_back(run_.comm()[rank].ledger().items());
    if (options_.callback && last_told_ != result_.iterations)
        tell(result_.iterations, result_.recurrence_residual);
    if (!result_.converged()) result_.diagnosis = diagnosis(result_, machine_epsilon_);
    if (!result_.converged() && options_.on_failure == failure_policy::throw_error)
        throw not_converged(result_);
    return result_;
}

} // namespace krylith
