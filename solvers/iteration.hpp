// What every solver does around its loop: norms, limits, callbacks, and the verification of the
// result by the true residual, with residual replacement where the recurrence has drifted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith {

/// The parts that know no vectors.
class iteration_control {
public:
    iteration_control(const device_group& group, const solver_options& options, std::int64_t n,
                      bool recordable, execution_options sizes, bool cycles);

    [[nodiscard]] execution& run() noexcept { return run_; }

protected:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] double target() const;
    /// Sets the control registers for iterations from `iteration` on.
    void arm(std::int64_t iteration);
    /// Records the body, which counts as set-up.
    void prepare(const std::function<void()>& body);
    /// Repeats the body; pauses for callbacks and goes on.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body);
    /// What to make of the loop's end and the true residual; false: go on from there.
    [[nodiscard]] bool judge(const loop_report& end, double true_rr);
    void finish_history();
    [[nodiscard]] solve_result finish();
    void diagnose();

    solver_options options_;
    std::int64_t limit_;
    clock::time_point began_ = clock::now();
    clock::time_point started_;
    double recording_seconds_ = 0;
    execution run_;
    solve_result result_;
    double scale_ = 1;      ///< power of two by which b and x are multiplied inside
    double bb_ = 0;         ///< squared norm of the scaled b
    double start_rr_ = 0;   ///< squared residual norm that the recurrence starts with
    double last_true_ = -1; ///< squared true residual at the last verification
};

/// The power of two that brings the largest |b_i| to about 1, or 1 where `bb` says that squares
/// neither vanish nor overflow. Downloads b only if they might. `finite` is cleared for NaN or Inf.
template <class T>
[[nodiscard]] double safe_scale(const vector<T>& b, double bb, bool& finite);

extern template double safe_scale(const vector<double>&, double, bool&);
extern template double safe_scale(const vector<float>&, double, bool&);

template <linear_operator A>
class iteration : public iteration_control {
public:
    using T = typename A::value_type;

    /// `cycles`: the body is a whole cycle of iterations, and one turn of the loop.
    iteration(const A& a, const vector<T>& b, vector<T>& x, const solver_options& options,
              const execution_options& sizes = {}, bool cycles = false)
        : iteration_control(a.share_layout()->group, options, a.share_layout()->size(),
                            a.recordable(), sizes, cycles),
          a_(a),
          b_(&b),
          x_(x) {
        if (b.share_layout() != a.share_layout() || x.share_layout() != a.share_layout())
            throw usage_error("b and x of a solve must be vectors of its operator");
    }

    /// `start` prepares the recurrence from r = b - A x; `body` is one iteration (or cycle) and
    /// ends with test_residual or finish_cycle. `operand` is scratch between the two.
    [[nodiscard]] solve_result solve(vector<T>& r, vector<T>& operand,
                                     const std::function<void()>& start,
                                     const std::function<void()>& body) {
        started_ = clock::now();
        if (!begin(r, operand)) return finish();
        prepare(body);
        for (;;) {
            arm(result_.iterations);
            start();
            const loop_report end = repeat(body);
            if (judge(end, true_residual(r, operand))) break;
            ++result_.replacements;
        }
        restore_scale();
        finish_history();
        return finish();
    }

    /// b as the solver scales it.
    [[nodiscard]] const vector<T>& rhs() const { return *b_; }
    /// Squared norm of the residual that a (re)start begins with, as the solver scales b.
    [[nodiscard]] const scalar& starting_rr() const { return *rr_; }

private:
    /// r = b - A x and its norm, scaled where squares would not survive; false: nothing to iterate.
    bool begin(vector<T>& r, vector<T>& operand) {
        scalar norm(run_);
        fused(run_, norm = dot(*b_, *b_));
        bool finite = true;
        scale_ = safe_scale(*b_, run_.get(norm.number()), finite);
        if (scale_ != 1) apply_scale();
        if (scale_ != 1) fused(run_, norm = dot(*b_, *b_));
        bb_ = run_.get(norm.number());
        result_.rhs_norm = std::sqrt(bb_) / scale_;
        if (!options_.initial_guess || bb_ == 0) x_.zero();
        const double rr = true_residual(r, operand);
        run_.set_history(0, rr);
        loop_report start;
        start.residual = rr;
        start.state = options_.max_iterations == 0 ? loop_state::limit : loop_state::running;
        if (!finite || !std::isfinite(rr)) start.state = loop_state::not_a_number;
        start_rr_ = rr;
        const bool done = start.state != loop_state::running || rr <= target() * target();
        if (!done) return true;
        (void)judge(start, rr);
        restore_scale();
        finish_history();
        return false;
    }

    double true_residual(vector<T>& r, vector<T>& operand) {
        scalar& rr = rr_ ? *rr_ : rr_.emplace(run_);
        run_.set(control::state, as_register(loop_state::running));
        run_.unguarded([&] {
            fused(run_, operand = x_);
            residual(run_, a_, *b_, operand, r, rr = dot(r, r));
        });
        return run_.get(rr.number());
    }

    void apply_scale() {
        scaled_.emplace(b_->share_layout());
        scalar factor(run_);
        factor = scale_;
        fused(run_, *scaled_ = factor * *b_, x_ = factor * x_);
        b_ = &*scaled_;
    }

    void restore_scale() {
        if (scale_ == 1) return;
        scalar factor(run_);
        factor = 1 / scale_;
        run_.unguarded([&] { fused(run_, x_ = factor * x_); });
        run_.group().synchronize();
    }

    const A& a_;
    const vector<T>* b_;
    vector<T>& x_;
    std::optional<vector<T>> scaled_;
    std::optional<scalar> rr_;
};

} // namespace krylith
