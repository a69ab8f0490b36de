// What every solver does around its loop: norms, limits, callbacks, and a check of the result by
// the true residual, with residual replacement where the recurrence has drifted.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <krylith/device/trace/trace_range.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/solvers/iteration/iteration_control.hpp>
#include <krylith/solvers/iteration/scaled_operator.hpp>
#include <krylith/solvers/iteration/scaled_preconditioner.hpp>
#include <krylith/solvers/iteration/scaling.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith {

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
                            unrecordable(a, m), sizes, cycles, kernels_of(m)),
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

    /// Solves A x = b. `loop` has the members that solvers/iteration/kept_solver.hpp says.
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
            const bool at_once = Loop::stops_at_once && may_launch_ahead<Loop>() &&
                                 !options_.history && options_.max_iterations != 0;
            if (!at_once || !solve_at_once(loop)) begin_and_iterate(loop);
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

    /// Whether the loop can be enqueued with what comes behind it: nothing is left to be recorded,
    /// and nobody looks at the solve on its way.
    template <class Loop>
    [[nodiscard]] bool may_launch_ahead() const {
        const bool recorded = run_.has_recording() && recorded_factor_ == a_.factor() &&
                              recorded_scaled_ == used_m_.scaled;
        return (recorded || Loop::whole) && !watched();
    }

    /// Enqueues the whole solve, for which the host waits once. Returns false, with nothing
    /// decided, where the system must be scaled.
    template <class Loop>
    bool solve_at_once(Loop& loop);
    /// Enqueues the loop and the check of its x. ended_ has the state in which the loop ended.
    template <class Loop>
    void enqueue_loop(Loop& loop);
    /// Iterates from r = b - A x until the solve ends.
    template <class Loop>
    void iterate(Loop& loop);

    /// Enqueues r = b - A x0 for the x0 that is asked for, with r'r and the squared norms of b, of
    /// what A is multiplied by (x0; b where x0 = 0) and of the product.
    void enqueue_start(vector<T>& r, vector<T>& domain) {
        if (options_.initial_guess) {
            const vector<T>& x = *user_x_;
            fused(run_, domain = x, x_ = x, bb_of_b_ = dot(*b_, *b_), vv_ = dot(x, x));
            multiply(run_, a_, domain, r, av_ = dot(r, r));
            fused(run_, r = *b_ - r, rr_ = dot(r, r));
            return;
        }
        if (x_.layout()->kind == coherence::owned) { // nobody else writes x_: it can hold A b first
            fused(run_, domain = *b_, r = *b_, bb_of_b_ = dot(*b_, *b_));
            multiply(run_, a_, domain, x_, av_ = dot(x_, x_));
            x_.zero();
        } else {
            x_.zero();
            fused(run_, domain = *b_, bb_of_b_ = dot(*b_, *b_));
            multiply(run_, a_, domain, r, av_ = dot(r, r));
            fused(run_, r = *b_);
        }
        vv_ = bb_of_b_;
        rr_ = bb_of_b_;
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
            if (from_zero) { // its norm is b's, from the kernel of any start
                fused(run_, r = *b_);
                rr_ = bb_of_b_;
            }
            rr = !finite     ? std::numeric_limits<double>::quiet_NaN()
                 : from_zero ? bb_
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

    /// Sets r = A v. Returns whether the squares of b, v and A v are in range, or A v and b are 0
    /// and settle the matter. It costs what the residual of a start from 0 would.
    bool norms_in_range(const vector<T>& v, vector<T>& r, vector<T>& domain);

    /// Scales the largest entries of b, A b and M^-1 b to about 1, and b further where products
    /// with A would lose digits. Returns false where an entry isn't finite. It is rare and
    /// downloads three vectors.
    bool rescale(vector<T>& r, vector<T>& domain);

    void give_x() override {
        run_.unguarded([&] { fused(run_, *user_x_ = x_); });
    }

    [[nodiscard]] vector<T>& own_b() {
        if (!own_b_) own_b_.emplace(a_.layout());
        return *own_b_;
    }

    /// Multiplies the solver's b by 2^exponent.
    void scale_b(int exponent);

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
    void end(vector<T>& r, vector<T>& domain);

    /// Multiplies v by 2^exponent, in steps that T can hold.
    void shift(vector<T>& v, int exponent);

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

#include <krylith/solvers/iteration/rescaling.hpp>
#include <krylith/solvers/iteration/running.hpp>
