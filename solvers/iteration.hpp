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
    /// `unrecordable` names what a recorded loop can't contain, and is empty if there is nothing.
    iteration_control(const device_group& group, const solver_options& options, std::int64_t n,
                      const std::string& unrecordable, execution_options sizes, bool cycles);

    [[nodiscard]] execution& run() noexcept { return run_; }

protected:
    using clock = std::chrono::steady_clock;

    [[nodiscard]] double target() const;
    /// Sets the control registers for the iterations from `iteration` on.
    void set_controls(std::int64_t iteration);
    /// Records the body; its time counts as set-up.
    void prepare(const std::function<void()>& body);
    /// Repeats the body until the loop ends, and watches it where somebody wants that.
    [[nodiscard]] loop_report repeat(const std::function<void()>& body);
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
    std::int64_t limit_;
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
};

/// Scales the system around a solver. Solvers multiply by a() and apply m(), which are the user's A
/// and M^-1 times powers of two.
template <linear_operator A, preconditioner<typename A::value_type> M = identity>
class iteration : public iteration_control {
public:
    using T = typename A::value_type;

    /// With `cycles` the body is a whole cycle of iterations, and one trip of the loop.
    iteration(const A& a, const M& m, const vector<T>& b, vector<T>& x,
              const solver_options& options, const execution_options& sizes = {},
              bool cycles = false)
        : iteration_control(a.layout()->group, resolved<T>(options), a.layout()->size(),
                            unrecordable(a, m), sizes, cycles),
          a_(a),
          m_(m),
          b_(&b),
          x_(x) {
        if (b.layout() != a.layout() || x.layout() != a.layout())
            throw usage_error("b and x of a solve must be vectors of its operator");
        machine_epsilon_ = std::numeric_limits<T>::epsilon();
        if (b.overlaps(x)) { // x is written before b has been read for the last time
            own_b_.emplace(b.layout());
            fused(run_, *own_b_ = b);
            b_ = &*own_b_;
        }
    }

    [[nodiscard]] const scaled_operator<A>& a() const { return a_; }
    [[nodiscard]] scaled_preconditioner<M, T> m() const { return {m_, m_scale_}; }

    /// Runs the solve. `start` prepares the recurrence from r = b - A x; `body` is one iteration
    /// (or cycle) and ends with test_residual or finish_cycle. `domain` is scratch between the two.
    [[nodiscard]] solve_result solve(vector<T>& r, vector<T>& domain,
                                     const std::function<void()>& start,
                                     const std::function<void()>& body) {
        const trace_range range("solve");
        started_ = clock::now();
        try {
            if (begin(r, domain)) iterate(r, domain, start, body);
        } catch (...) {
            run_.quiesce(); // peers write into the solver's vectors, which are about to be freed
            throw;
        }
        return finish();
    }

    /// Returns b as the solver scales it.
    [[nodiscard]] const vector<T>& rhs() const { return *b_; }
    /// The squared norm of the residual that a (re)start begins with, as the solver scales b.
    [[nodiscard]] const scalar& starting_rr() const { return rr_; }

private:
    [[nodiscard]] static std::string unrecordable(const A& a, const M& m) {
        if (!a.recordable()) return "this operator";
        if constexpr (!std::same_as<M, identity>)
            if (!m.recordable()) return "preconditioner " + std::string(m.name());
        return {};
    }

    /// Sets r = b - A x and its norm, scaled where squares would leave the range. Returns false
    /// where there is nothing to iterate.
    bool begin(vector<T>& r, vector<T>& domain) {
        const bool multiplied = options_.initial_guess && norms_in_range(x_, r, domain); // r = A x
        const bool finite = multiplied || norms_in_range(*b_, r, domain) || rescale(r, domain);
        result_.rhs_norm = std::sqrt(bb_) / scale_;
        const bool from_zero = !options_.initial_guess || bb_ == 0;
        if (from_zero) x_.zero();
        double rr = std::numeric_limits<double>::quiet_NaN();
        if (finite && multiplied)
            rr = norm_of(r, *b_ - r);
        else if (finite)
            rr = from_zero ? norm_of(r, *b_) : true_residual(r, domain);
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
        end(r, domain);
        return false;
    }

    void iterate(vector<T>& r, vector<T>& domain, const std::function<void()>& start,
                 const std::function<void()>& body) {
        prepare(body);
        for (;;) {
            set_controls(result_.iterations);
            start();
            const loop_report end = repeat(body);
            if (check_convergence(end, true_residual(r, domain))) break;
            ++result_.replacements;
        }
        end(r, domain);
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
        if (!is_identity(m_)) {
            precondition<T>(run_, m_, *b_, r, rr_ = dot(r, r));
            if (!ordinary<T>(run_.get(rr_.number())))
                m_scale_.set(run_, m_exponent_ = -exponent_of(r, finite) / 2 * 2);
        }
        x_exponent_ = of_a - of_b;
        if (options_.initial_guess) shift(x_, -x_exponent_);
        return finite;
    }

    /// Multiplies the solver's b by 2^exponent.
    void scale_b(int exponent) {
        if (exponent == 0) return;
        if (!own_b_) own_b_.emplace(b_->layout());
        factor_ = std::ldexp(1.0, exponent);
        fused(run_, *own_b_ = factor_ * *b_);
        b_ = &*own_b_;
        scale_ *= std::ldexp(1.0, exponent);
    }

    double norm_of(vector<T>& r, const linear_combination<T>& value) {
        fused(run_, r = value, rr_ = dot(r, r));
        return run_.get(rr_.number());
    }

    /// Returns the squared norm of b - A (2^exponent x).
    double true_residual(vector<T>& r, vector<T>& domain, int exponent = 0) {
        const trace_range range("true residual");
        run_.set(control::state, as_register(loop_state::running));
        run_.unguarded([&] { fused(run_, domain = x_); });
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
    const M& m_;
    const vector<T>* b_;
    vector<T>& x_;
    std::optional<vector<T>> own_b_; ///< the scaled b, or b itself where x overlaps it
    inverse_scale m_scale_;
    int m_exponent_ = 0; ///< the solver applies 2^m_exponent_ M^-1
    int x_exponent_ = 0; ///< x = 2^x_exponent_ times the x of the scaled system
    scalar rr_{run_};
    scalar bb_of_b_{run_};
    scalar vv_{run_};
    scalar factor_{run_};
};

} // namespace krylith
