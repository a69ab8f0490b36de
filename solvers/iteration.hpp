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

    /// With `cycles` the body is a whole cycle of iterations, and one trip of the loop. With
    /// `least_squares` A is any transposable_operator, the vectors r of its loops are of the range
    /// layout and ones that A' can multiply, and ||A'r|| is found out with ||r||.
    iteration(const A& a, const M& m, const solver_options& options,
              const execution_options& sizes = {}, bool cycles = false, bool least_squares = false)
        : iteration_control(range_layout_of(a)->comm, resolved<T>(options),
                            domain_layout_of(a)->size(), unrecordable(a, m, least_squares), sizes,
                            cycles, kernels_of(m)),
          a_(a),
          used_m_(run_),
          plain_(is_identity(m)),
          x_(domain_layout_of(a)) {
        used_m_.m = &m;
        machine_epsilon_ = std::numeric_limits<T>::epsilon();
        if (least_squares) {
            normal_.emplace(run_);
            judge_normal_residual();
        }
    }

    [[nodiscard]] const scaled_operator<A>& a() const { return a_; }
    [[nodiscard]] scaled_preconditioner<M, T> m() const {
        return scaled_preconditioner<M, T>(used_m_);
    }
    /// The x of the scaled system.
    [[nodiscard]] vector<T>& x() { return x_; }
    /// The squared norm of the solver's A, as far as a loop of least squares knows it: it begins
    /// with 0 and lets it grow.
    [[nodiscard]] scalar& matrix_norm_squared() { return normal_->matrix; }
    /// The d with which least squares add d^2 ||x||^2 to the squared residual, as the solver scales
    /// A. Residuals are then those of A with -d I below it, and of b with zeros.
    [[nodiscard]] double damping() const {
        return options_.damping * static_cast<double>(a_.factor());
    }
    /// Returns b as the solver scales it, at the same place in every solve: for loops that read b.
    [[nodiscard]] const vector<T>& keep_rhs() {
        keeps_b_ = true;
        return own_b();
    }

    /// Whether a solve with these arguments can use the vectors and the execution.
    [[nodiscard]] bool suits(const A& a, const M& m, const solver_options& options) const {
        return &a == &a_.original() && is_identity(m) == plain_ &&
               iteration_control::suits(options, unrecordable(a, m, normal_.has_value()));
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
        if (b.layout() != a_.range_layout() || x.layout() != a_.domain_layout())
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
    /// The squared norms that least squares are judged by.
    struct normal_scalars {
        explicit normal_scalars(execution& run) : residual(run), matrix(run) {}
        scalar residual; ///< of A'(b - A x) - d^2 x
        scalar matrix;   ///< of A, from below
    };

    [[nodiscard]] static std::string unrecordable(const A& a, const M& m, bool least_squares) {
        if (!a.recordable()) return "this operator";
        if constexpr (transposable_operator<A>)
            if (least_squares && !a.transposed().recordable()) return "this operator's transpose";
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
    void enqueue_start(vector<T>& r, vector<T>& domain);

    /// Enqueues a product with b that shows how large A is, with its squared norm and b'b: r = A b,
    /// or domain = A'b where A may not be square. Returns the product.
    const vector<T>& multiply_b(vector<T>& r, vector<T>& domain, const scalar& norm);

    [[nodiscard]] static reduction_into<T> norm_into(const scalar& to, const vector<T>& v) {
        return {to.number(), &v, &v};
    }

    /// Enqueues r = b - A x with r'r, and gives x to the caller. In least squares also domain = A'r
    /// with its squared norm.
    void enqueue_check(vector<T>& r, vector<T>& domain);
    /// Where domain is x and r = b - A x, enqueues domain = A'r - d^2 x with its squared norm.
    void enqueue_normal_residual(vector<T>& r, vector<T>& domain);
    /// Adds d^2 vv_ to r'r, where vv_ is the squared norm of x.
    void add_damping() {
        if (damping() == 0) return;
        factor_ = damping() * damping();
        rr_ = rr_ + factor_ * vv_;
    }
    [[nodiscard]] const A& original() const { return a_.original(); }
    /// Waits for a check, and returns the squared norm of the residual that it has found.
    [[nodiscard]] double read_residual();
    /// Returns the squared norm that decides where a check has found r = b - A (2^exponent x) with
    /// the squared norm rr, and has left that x in `domain`. Mostly it is rr. Where rr is small
    /// enough, but rounding may hide a residual that isn't, it is that of r in doubled precision,
    /// and if that is too large, it is also what r becomes. Operators that don't know their entries
    /// can't do that, and what they say counts. It costs a product there, and in the first solve
    /// with new values, which finds out how large A is.
    [[nodiscard]] double confirmed(vector<T>& r, vector<T>& domain, double rr, int exponent = 0);
    /// Tells the control what the last check has found out about A'r.
    void read_normal_residual();

    /// Sets r = b - A x and its norm, scaled where squares would leave the range. Returns false
    /// where there is nothing to iterate.
    bool begin(vector<T>& r, vector<T>& domain) {
        enqueue_start(r, domain);
        const auto now = run_.get({bb_of_b_.number(), vv_.number(), av_.number(), rr_.number()});
        bb_ = now[0];
        xx_ = now[1];
        double rr = now[3];
        bool from_zero = !options_.initial_guess;
        if (!std::all_of(now.begin(), now.begin() + 3, ordinary<T>)) {
            const bool finite =
                (options_.initial_guess && norms_in_range(r, domain)) || rescale(r, domain);
            from_zero = from_zero || bb_ == 0; // of the scaled b: b is 0
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
        // The residual of x = 0 is b.
        if (!from_zero) rr = confirmed(r, domain, rr);
        run_.set_history(0, rr);
        loop_report start;
        start.residual = rr;
        start.state = options_.max_iterations == 0 ? loop_state::limit : loop_state::running;
        start_rr_ = rr;
        if (stops_at_start(rr)) start.state = loop_state::stopped;
        if (!std::isfinite(rr)) start.state = loop_state::not_a_number;
        const bool done = start.state != loop_state::running || rr <= target() * target();
        if (!done) return true;
        if (normal_) {
            rr = true_residual(r, domain);
            if (!from_zero) rr = confirmed(r, domain, rr);
        }
        (void)check_convergence(start, rr);
        give_x();
        end(r, domain);
        return false;
    }

    /// Multiplies b. Returns whether the squares of b and the product are in range. It costs what
    /// the residual of a start from 0 would.
    bool norms_in_range(vector<T>& r, vector<T>& domain);

    /// Scales the largest entries of b, A b and M^-1 b to about 1, and b further where products
    /// with A would lose digits. Returns false where an entry isn't finite. It is rare and
    /// downloads three vectors.
    bool rescale(vector<T>& r, vector<T>& domain);

    void give_x() override {
        run_.unguarded([&] { fused(run_, *user_x_ = x_); });
    }

    [[nodiscard]] vector<T>& own_b() {
        if (!own_b_) own_b_.emplace(a_.range_layout());
        return *own_b_;
    }

    /// Multiplies the solver's b by 2^exponent.
    void scale_b(int exponent);

    /// Returns the squared norm of b - A (2^exponent x), and gives x to the user.
    double true_residual(vector<T>& r, vector<T>& domain, int exponent = 0);

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
    std::optional<normal_scalars> normal_; ///< of least squares
};

} // namespace krylith

#include <krylith/solvers/iteration/rescaling.hpp>
#include <krylith/solvers/iteration/residuals.hpp>
#include <krylith/solvers/iteration/running.hpp>
