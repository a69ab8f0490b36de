// What every solver does around its loop: norms, limits, callbacks, and a check of the result by
// the true residual, with residual replacement where the recurrence has drifted.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/trace/trace_range.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/scaled_operator.hpp>
#include <krylith/solvers/iteration/scaled_preconditioner.hpp>
#include <krylith/solvers/iteration/scaling.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith {

/// The part of an iteration that handles no vectors.
class iteration_control {
public:
    iteration_control(const iteration_control&) = delete;
    iteration_control& operator=(const iteration_control&) = delete;
    virtual ~iteration_control() = default;

    /// `unrecordable` names what a recorded loop can't contain, and is empty if there is nothing.
    iteration_control(const device_group& group, const solver_options& options, std::int64_t n,
                      const std::string& unrecordable, execution_options sizes, bool cycles);

    [[nodiscard]] execution& run() noexcept { return run_; }

    /// Whether a solve with these options can use this execution, and the vectors made for it.
    [[nodiscard]] bool suits(const solver_options& options, const std::string& unrecordable) const;

protected:
    using clock = std::chrono::steady_clock;

    /// Prepares for the next solve. Only what suits() looks at must be as it was.
    void restart(const solver_options& options);
    [[nodiscard]] double target() const;
    /// Sets the control registers for the iterations from `iteration` on.
    void set_controls(std::int64_t iteration);
    /// Sets them for the first iteration, by numbers that only the devices know: b'b and r'r. Stops
    /// the loop where r is small enough.
    void set_controls(const scalar& bb, const scalar& rr);
    /// Whether somebody looks at the solve while it runs.
    [[nodiscard]] bool watched() const { return options_.callback || watches(); }
    /// Records the body; its time counts as set-up.
    void prepare(const std::function<void()>& body);
    /// Repeats the body until the loop ends, and watches it where somebody wants that.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body);
    /// Enqueues the copy of the iterate to the caller's x.
    virtual void give_x() {}
    /// Calls the callback with iteration 0 and its squared residual norm. Returns whether the solve
    /// is to end before it has begun.
    [[nodiscard]] bool stops_at_start(double rr);
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
    void set_next_pause(std::int64_t iteration);

    std::vector<std::int64_t> starts_; ///< iterations at which the recurrence began
    std::optional<reason> told_;       ///< who said stop
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
    double scale_ = 1;      ///< power of two by which b and x are multiplied inside
    double bb_ = 0;         ///< squared norm of the scaled b
    double start_rr_ = 0;   ///< squared residual norm that the recurrence starts with
    double last_true_ = -1; ///< squared true residual at the last verification

private:
    bool recordable_;
    bool used_ = false;
};

/// Scales the system around a solver. Solvers multiply by a() and apply m(), which are the user's A
/// and M^-1 times powers of two, and work on x(), which becomes the user's x at the end: what they
/// record holds no address of the user's vectors.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class iteration : public iteration_control {
public:
    using T = typename A::value_type;

    /// With `cycles` the body is a whole cycle of iterations, and one trip of the loop.
    iteration(const A& a, const M& m, const solver_options& options,
              const execution_options& sizes = {}, bool cycles = false)
        : iteration_control(a.layout()->group, resolved<T>(options), a.layout()->size(),
                            unrecordable(a, m), sizes, cycles),
          a_(a),
          used_m_(run_),
          plain_(is_identity(m)),
          x_(a.make_range_vector()) {
        used_m_.m = &m;
        machine_epsilon_ = std::numeric_limits<T>::epsilon();
    }

    [[nodiscard]] const scaled_operator<A>& a() const { return a_; }
    [[nodiscard]] scaled_preconditioner<M, T> m() const {
        return scaled_preconditioner<M, T>(used_m_);
    }
    /// The x of the scaled system.
    [[nodiscard]] vector<T>& x() { return x_; }
    /// Returns b as the solver scales it, at the same place in every solve: for loops that read b.
    [[nodiscard]] const vector<T>& keep_rhs() {
        keeps_b_ = true;
        return own_b();
    }

    /// Whether a solve with these arguments can use the vectors and the execution.
    [[nodiscard]] bool suits(const A& a, const M& m, const solver_options& options) const {
        return &a == &a_.original() && is_identity(m) == plain_ &&
               iteration_control::suits(options, unrecordable(a, m));
    }

    /// Solves A x = b. `loop` has the members that solvers/solver.hpp says.
    template <class Loop>
    [[nodiscard]] solve_result solve(const M& m, const vector<T>& b, vector<T>& x,
                                     const solver_options& options, Loop& loop) {
        restart(resolved<T>(options));
        a_.scale(0);
        used_m_.m = &m;
        used_m_.scaled = false;
        m_exponent_ = 0;
        x_exponent_ = 0;
        user_x_ = &x;
        if (b.layout() != a_.layout() || x.layout() != a_.layout())
            throw usage_error("b and x of a solve must be vectors of its operator");
        const trace_range range("solve");
        started_ = clock::now();
        try {
            b_ = &b; // the check of the solve before has left the state running
            // x is written before b has been read for the last time.
            if (keeps_b_ || b.overlaps(x)) {
                fused(run_, own_b() = b);
                b_ = &own_b();
            }
            if (may_launch_ahead<Loop>()) {
                if (!solve_at_once(loop)) begin_and_iterate(loop);
            } else {
                begin_and_iterate(loop);
            }
        } catch (...) {
            run_.quiesce(); // peers write into the solver's vectors, which are about to be freed
            throw;
        }
        return finish();
    }

    /// The squared norm of the residual that a (re)start begins with, as the solver scales b.
    [[nodiscard]] const scalar& starting_rr() const { return rr_; }

private:
    [[nodiscard]] static std::string unrecordable(const A& a, const M& m) {
        if (!a.recordable()) return "this operator";
        if constexpr (!std::same_as<M, identity>)
            if (!m.recordable()) return "preconditioner " + std::string(m.name());
        return {};
    }

    template <class Loop>
    void begin_and_iterate(Loop& loop) {
        if (begin(loop.r(), loop.direction())) iterate(loop);
    }

    /// Whether the loop can be enqueued with all that comes before and after it: nobody looks at
    /// the solve on its way, and nothing is left to be recorded.
    template <class Loop>
    [[nodiscard]] bool may_launch_ahead() const {
        const bool recorded = run_.has_recording() && recorded_factor_ == T(1) && !recorded_scaled_;
        return (recorded || Loop::whole) && !watched() && !options_.history &&
               options_.max_iterations != 0;
    }

    /// Enqueues the whole solve, for which the host waits once. Returns false, with nothing
    /// decided, where the system must be scaled.
    template <class Loop>
    bool solve_at_once(Loop& loop) {
        auto& r = loop.r();
        auto& domain = loop.direction();
        enqueue_start(r, domain);
        for (const scalar* norm : {&bb_of_b_, &vv_, &av_})
            require_ordinary<T>(*norm, loop_state::extreme);
        first_rr_ = rr_;
        set_controls(bb_of_b_, rr_);
        loop.start();
        run_.launch([&loop] { loop.iterate(); });
        ended_ = scalar_value{&run_, control::state};
        enqueue_check(r, domain);
        const auto now = run_.get({bb_of_b_.number(), first_rr_.number(), ended_.number(),
                                   control::iteration, control::residual, rr_.number()});
        loop_report end{static_cast<loop_state>(static_cast<std::uint8_t>(now[2])),
                        static_cast<std::int64_t>(now[3]), now[4]};
        if (end.state == loop_state::extreme) return false;
        bb_ = now[0];
        start_rr_ = now[1];
        result_.rhs_norm = std::sqrt(bb_);
        const bool at_start = end.state == loop_state::converged && end.iterations == 0;
        if (at_start) end.state = loop_state::running;
        if (check_convergence(end, at_start ? now[1] : now[5])) return true;
        ++result_.replacements;
        iterate(loop);
        return true;
    }

    /// Enqueues r = b - A x0 for the x0 that is asked for, with r'r and the squared norms of b, of
    /// what A is multiplied by (x0; b where x0 = 0) and of the product.
    void enqueue_start(vector<T>& r, vector<T>& domain) {
        if (options_.initial_guess) {
            const vector<T>& x = *user_x_;
            fused(run_, domain = x, x_ = x, bb_of_b_ = dot(*b_, *b_), vv_ = dot(x, x));
            multiply(run_, a_, domain, r, av_ = dot(r, r));
            fused(run_, r = *b_ - r, rr_ = dot(r, r));
        } else {
            x_.zero();
            fused(run_, domain = *b_, bb_of_b_ = dot(*b_, *b_));
            multiply(run_, a_, domain, r, av_ = dot(r, r));
            fused(run_, r = *b_);
            vv_ = bb_of_b_;
            rr_ = bb_of_b_;
        }
    }

    /// Enqueues r = b - A x with r'r, and gives x to the caller.
    void enqueue_check(vector<T>& r, vector<T>& domain) {
        run_.set(control::state, as_register(loop_state::running));
        run_.unguarded([&] {
            fused(run_, domain = x_, *user_x_ = x_, r = *b_);
            const reduction_into<T> norm = rr_ = dot(r, r);
            a_.apply(run_, T(-1), domain, T(1), r, {&norm, 1});
        });
    }

    /// Sets r = b - A x and its norm, scaled where squares would leave the range. Returns false
    /// where there is nothing to iterate.
    bool begin(vector<T>& r, vector<T>& domain) {
        enqueue_start(r, domain);
        const auto now = run_.get({bb_of_b_.number(), vv_.number(), av_.number(), rr_.number()});
        bb_ = now[0];
        double rr = now[3];
        if (!std::all_of(now.begin(), now.begin() + 3, ordinary<T>)) {
            const bool finite =
                (options_.initial_guess && norms_in_range(*b_, r, domain)) || rescale(r, domain);
            const bool from_zero = !options_.initial_guess || bb_ == 0;
            if (from_zero) x_.zero();
            rr = !finite     ? std::numeric_limits<double>::quiet_NaN()
                 : from_zero ? norm_of(r, *b_)
                             : true_residual(r, domain);
        }
        result_.rhs_norm = std::sqrt(bb_) / scale_;
        run_.set_history(0, rr);
        loop_report start;
        start.residual = rr;
        start.state = options_.max_iterations == 0 ? loop_state::limit : loop_state::running;
        start_rr_ = rr;
        if (stops_at_start(rr)) start.state = loop_state::stopped;
        if (!std::isfinite(rr)) start.state = loop_state::not_a_number;
        const bool done = start.state != loop_state::running || rr <= target() * target();
        if (!done) return true;
        (void)check_convergence(start, rr);
        give_x();
        end(r, domain);
        return false;
    }

    template <class Loop>
    void iterate(Loop& loop) {
        // The scaling is part of what is recorded.
        if (recorded_factor_ != a_.factor() || recorded_scaled_ != used_m_.scaled)
            run_.forget_recording();
        recorded_factor_ = a_.factor();
        recorded_scaled_ = used_m_.scaled;
        const auto body = [&loop] { loop.iterate(); };
        prepare(body);
        for (;;) {
            set_controls(result_.iterations);
            loop.start();
            const loop_report end = repeat(body);
            if (check_convergence(end, true_residual(loop.r(), loop.direction()))) break;
            ++result_.replacements;
        }
        end(loop.r(), loop.direction());
    }

    /// Sets r = A v. Returns whether the squares of b, v and A v are in range, or A v and b are 0
    /// and settle the matter. It costs what the residual of a start from 0 would.
    bool norms_in_range(const vector<T>& v, vector<T>& r, vector<T>& domain) {
        fused(run_, domain = v, bb_of_b_ = dot(*b_, *b_), vv_ = dot(v, v));
        multiply(run_, a_, domain, r, rr_ = dot(r, r));
        const auto norms = run_.get({bb_of_b_.number(), vv_.number(), rr_.number()});
        bb_ = norms[0];
        return std::all_of(norms.begin(), norms.end(), ordinary<T>);
    }

    /// Scales the largest entries of b, A b and M^-1 b to about 1, and b further where products
    /// with A would lose digits. Returns false where an entry isn't finite. It is rare and
    /// downloads three vectors.
    bool rescale(vector<T>& r, vector<T>& domain) {
        bool finite = true;
        int of_b = 0;
        const auto enlarge_b = [&](int by) {
            by = std::min(by, largest_exponent<double> - of_b); // so that scale_ stays finite
            scale_b(by);
            of_b += by;
        };
        enlarge_b(-exponent_of(*b_, finite));
        enlarge_b(-exponent_of(*b_, finite)); // float's smallest numbers need a second step
        const auto of_product = [&] {
            fused(run_, domain = *b_, bb_of_b_ = dot(*b_, *b_));
            multiply(run_, a_, domain, r, rr_ = dot(r, r));
            bb_ = run_.get(bb_of_b_.number());
            return exponent_of(r, finite);
        };
        int of_a = -of_product();
        if (of_a > least_product<T> || run_.get(rr_.number()) == 0) {
            const int before = of_b;
            enlarge_b(product_room<T>);
            of_a = std::min(of_b - before - of_product(), largest_exponent<T>);
        }
        a_.scale(of_a);
        if (!plain_) {
            precondition<T>(run_, *used_m_.m, *b_, r, rr_ = dot(r, r));
            if (!ordinary<T>(run_.get(rr_.number())))
                used_m_.scale(m_exponent_ = -exponent_of(r, finite) / 2 * 2);
        }
        x_exponent_ = of_a - of_b;
        if (options_.initial_guess) shift(x_, -x_exponent_);
        return finite;
    }

    void give_x() override {
        run_.unguarded([&] { fused(run_, *user_x_ = x_); });
    }

    [[nodiscard]] vector<T>& own_b() {
        if (!own_b_) own_b_.emplace(a_.layout());
        return *own_b_;
    }

    /// Multiplies the solver's b by 2^exponent.
    void scale_b(int exponent) {
        if (exponent == 0) return;
        factor_ = std::ldexp(1.0, exponent);
        fused(run_, own_b() = factor_ * *b_);
        b_ = &own_b();
        scale_ *= std::ldexp(1.0, exponent);
    }

    double norm_of(vector<T>& r, const linear_combination<T>& value) {
        fused(run_, r = value, rr_ = dot(r, r));
        return run_.get(rr_.number());
    }

    /// Returns the squared norm of b - A (2^exponent x), and gives x to the user.
    double true_residual(vector<T>& r, vector<T>& domain, int exponent = 0) {
        const trace_range range("true residual");
        if (exponent == 0) {
            enqueue_check(r, domain);
            return run_.get(rr_.number());
        }
        run_.set(control::state, as_register(loop_state::running));
        run_.unguarded([&] { fused(run_, domain = x_, *user_x_ = x_); });
        shift(domain, exponent);
        run_.unguarded([&] { residual(run_, a_, *b_, domain, r, rr_ = dot(r, r)); });
        return run_.get(rr_.number());
    }

    /// Gives x back to the user's scale. Entries that leave the range of T on the way don't come
    /// back when x is scaled again for the check, so the residual there shows them.
    void end(vector<T>& r, vector<T>& domain) {
        if (x_exponent_ != 0) {
            shift(x_, x_exponent_);
            check_shifted_convergence(true_residual(r, domain, -x_exponent_));
        }
        run_.group().synchronize();
        finish_history(std::ldexp(static_cast<double>(a_.factor()), m_exponent_));
    }

    /// Multiplies v by 2^exponent, in steps that T can hold.
    void shift(vector<T>& v, int exponent) {
        while (exponent != 0) {
            const int step = std::clamp(exponent, -largest_exponent<T>, largest_exponent<T>);
            factor_ = std::ldexp(1.0, step);
            run_.unguarded([&] { fused(run_, v = factor_ * v); });
            exponent -= step;
        }
    }

    scaled_operator<A> a_;
    preconditioner_in_use<M> used_m_;
    bool plain_; ///< M = I
    vector<T> x_;
    vector<T>* user_x_ = nullptr;
    const vector<T>* b_ = nullptr;   ///< the user's, or own_b_
    std::optional<vector<T>> own_b_; ///< the scaled b, or b itself where x overlaps it
    bool keeps_b_ = false;           ///< the loop reads own_b_
    int m_exponent_ = 0;             ///< the solver applies 2^m_exponent_ M^-1
    int x_exponent_ = 0;             ///< x = 2^x_exponent_ times the x of the scaled system
    T recorded_factor_ = 1;          ///< of a_, when the loop was recorded
    bool recorded_scaled_ = false;   ///< used_m_.scaled, then
    scalar rr_{run_};
    scalar bb_of_b_{run_};
    scalar vv_{run_};
    scalar av_{run_};
    scalar first_rr_{run_}; ///< r'r before the first iteration
    scalar ended_{run_};    ///< the state in which the loop ended
    scalar factor_{run_};
};

} // namespace krylith
