// The part of an iteration that handles no vectors: limits, callbacks, and the verdict.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

/// Returns how many iterations, at most `most`, a trip of a loop has where an application of M
/// enqueues so many kernels: a graph of a few hundred kernels takes as long to instantiate as
/// several of its iterations. What can't be recorded the host calls, one iteration a trip, so that
/// it is not called for iterations beyond the end.
[[nodiscard]] int iterations_a_trip(int kernels, int most, bool recordable);

/// The part of an iteration that handles no vectors.
class iteration_control {
public:
    iteration_control(const iteration_control&) = delete;
    iteration_control& operator=(const iteration_control&) = delete;
    virtual ~iteration_control() = default;

    /// `unrecordable` names what a recorded loop can't contain, and is empty if there is nothing.
    /// `kernels` are those of an application of M.
    iteration_control(const communicator& comm, const solver_options& options, std::int64_t n,
                      const std::string& unrecordable, execution_options sizes, bool cycles,
                      int kernels);

    [[nodiscard]] execution& run() noexcept { return run_; }
    /// The options of the solve under way, with their rtol set.
    [[nodiscard]] const solver_options& options() const noexcept { return options_; }

    /// Whether a solve with these options can use this execution, and the vectors made for it.
    [[nodiscard]] bool suits(const solver_options& options, const std::string& unrecordable) const;

protected:
    using clock = std::chrono::steady_clock;

    /// Prepares for the next solve. Only what suits() looks at must be as it was.
    void restart(const solver_options& options);
    [[nodiscard]] double target() const;
    /// Whether this squared residual norm is what was asked for.
    [[nodiscard]] bool is_small(double rr) const;
    /// Sets the control registers for the iterations from `iteration` on.
    void set_controls(std::int64_t iteration);
    /// Sets them for the first iteration, by numbers that only the devices know: b'b and r'r. Stops
    /// the loop where r is small enough.
    void set_controls(const scalar& bb, const scalar& rr);
    /// Whether somebody looks at the solve while it runs.
    [[nodiscard]] bool watched() const {
        return options_.callback || watches() || outgrows_history();
    }
    /// Records the body where it isn't recorded. What the devices were given before runs meanwhile;
    /// the time counts as set-up.
    void prepare(const std::function<void()>& body);
    /// Repeats the body until the loop ends, and watches it where somebody wants that.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body);
    /// Enqueues the copy of the iterate to the caller's x.
    virtual void give_x() {}
    /// Calls the callback with iteration 0 and its squared residual norm. Returns whether the solve
    /// is to end before it has begun.
    [[nodiscard]] bool stops_at_start(double rr);
    /// Makes the norm of A'(b - A x) decide too, as least squares need it.
    void judge_normal_residual() { judges_normal_ = true; }
    /// Takes the squared norms, of the scaled system, of A'(b - A x), of A, which is the caller's
    /// times `factor`, and of b - A x. It comes before the decision.
    void set_normal_residual(double residual_squared, double matrix_squared, double true_rr,
                             double factor);
    /// Whether ||A'r|| says that r, of this norm, is as small as it gets.
    [[nodiscard]] bool at_least_squares(double norm) const;
    /// Decides by the loop's end and the true residual: true ends the solve, false continues from
    /// x.
    [[nodiscard]] bool check_convergence(const loop_report& end, double true_rr);
    /// Decides again by the true residual of the x that is returned, after shifting has changed it.
    void check_shifted_convergence(double true_rr);
    /// Reads the history, and the spectrum where the solver recorded its coefficients. The solver's
    /// matrix is `scale` M^-1 A.
    void finish_history(double scale);
    [[nodiscard]] solve_result finish();

private:
    [[nodiscard]] bool watches() const;
    /// Calls the callback, and keeps in mind what it says.
    void tell(std::int64_t iteration, double norm);
    /// Calls the callback for those of the posted iterations that it is due at.
    [[nodiscard]] bool look(std::span<const loop_post> posts);
    /// Whether anybody has said stop.
    [[nodiscard]] bool told_to_stop();
    /// The same for all drivers, which then go by the reason of the first that was told.
    /// Collective.
    [[nodiscard]] bool all_told_to_stop();
    void set_next_pause(std::int64_t iteration);
    /// The iteration at which the loop pauses for the callback; infinity where it doesn't.
    [[nodiscard]] double next_callback(std::int64_t iteration) const;
    /// Whether there may be more iterations than the devices record.
    [[nodiscard]] bool outgrows_history() const;
    /// Reads what the devices have recorded since the last call, up to iteration `last`.
    void read_history(std::int64_t last);
    /// The iterations without progress that count as stagnation. Those of least squares go on while
    /// ||r|| stays at its minimum.
    [[nodiscard]] double patience() const;
    /// Whether neither residual has fallen much since the verification before, which is at most
    /// `much` times what it was.
    [[nodiscard]] bool no_progress(double previous, double true_rr, double much) const;
    /// The reason of a loop that ended in this state; that of before where the state is none to
    /// end.
    [[nodiscard]] reason reason_of(loop_state state) const;

    /// What the devices have recorded, of iterations from 0 on; coefficients from 1 on.
    struct recorded_history {
        std::vector<double> residuals; ///< squared
        std::vector<double> alpha;
        std::vector<double> beta;

        /// Forgets this iteration and those after it.
        void go_back(std::int64_t iteration) {
            const auto keep = [](std::vector<double>& v, std::int64_t count) {
                if (std::ssize(v) > count) v.resize(static_cast<std::size_t>(count));
            };
            keep(residuals, iteration);
            for (auto* coefficients : {&alpha, &beta})
                keep(*coefficients, std::max<std::int64_t>(0, iteration - 1));
        }
    };

    std::vector<std::int64_t> starts_; ///< iterations at which the recurrence began
    recorded_history history_;
    double callback_at_ = std::numeric_limits<double>::infinity(); ///< of the next pause for it
    std::optional<reason> told_;                                   ///< who said stop
    std::int64_t last_told_ = -1;

protected:
    solver_options options_; ///< the caller's, with their rtol set
    std::int64_t n_;
    std::int64_t limit_;
    std::int64_t history_size_; ///< of the execution
    clock::time_point began_ = clock::now();
    clock::time_point started_;
    double recording_seconds_ = 0;
    double machine_epsilon_ = std::numeric_limits<double>::epsilon(); ///< epsilon of the vectors'
                                                                      ///< type
    execution run_;
    solve_result result_;
    double scale_ = 1;       ///< power of two by which b and x are multiplied inside
    double bb_ = 0;          ///< squared norm of the scaled b
    double start_rr_ = 0;    ///< squared residual norm that the recurrence starts with
    double last_true_ = -1;  ///< squared true residual at the last verification
    double xx_ = 0;          ///< squared norm of the scaled x, at the last verification
    bool doubled_ = false;   ///< a residual by a product was small by its rounding alone: from then
                             ///< on those in doubled precision decide
    bool one_cycle_ = false; ///< the loop ends after a cycle, since the next one would begin from a
                             ///< residual by a product

private:
    bool recordable_;
    bool used_ = false;
    bool judges_normal_ = false;
    double normal_rr_ = -1;          ///< squared norm of A'r at the last verification
    double normal_rr_before_ = -1;   ///< at the one before
    double matrix_norm_squared_ = 0; ///< of the scaled A, from below
};

} // namespace krylith
