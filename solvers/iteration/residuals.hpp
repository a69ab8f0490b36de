// How an iteration finds residuals: at its start, and of the x that is returned
// (solvers/iteration.hpp includes it).
#pragma once

#include <krylith/solvers/iteration.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::enqueue_start(vector<T>& r, vector<T>& domain) {
    if (options_.initial_guess) {
        const vector<T>& x = *user_x_;
        if (normal_) {
            fused(run_, domain = x, x_ = x, vv_ = dot(x, x));
            fused(run_, r = *b_, bb_of_b_ = dot(*b_, *b_));
        } else {
            fused(run_, domain = x, x_ = x, bb_of_b_ = dot(*b_, *b_), vv_ = dot(x, x));
        }
        multiply(run_, a_, domain, r, av_ = dot(r, r));
        fused(run_, r = *b_ - r, rr_ = dot(r, r));
        add_damping();
        return;
    }
    if (normal_) {
        x_.zero();
        (void)multiply_b(r, domain, av_); // r = b
    } else if (x_.layout()->kind == coherence::owned) {
        // Nobody else writes x_: it can hold A b first.
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

template <linear_operator A, preconditioner<typename A::value_type> M>
auto iteration<A, M>::multiply_b(vector<T>& r, vector<T>& domain, const scalar& norm)
    -> const vector<T>& {
    if (normal_) {
        fused(run_, r = *b_, bb_of_b_ = dot(*b_, *b_));
        a_.multiply_transposed(run_, r, T(0), domain, {norm_into(norm, domain)});
        return domain;
    }
    fused(run_, domain = *b_, bb_of_b_ = dot(*b_, *b_));
    multiply(run_, a_, domain, r, norm_into(norm, r));
    return r;
}

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::enqueue_check(vector<T>& r, vector<T>& domain) {
    run_.set(control::state, as_register(loop_state::running));
    run_.unguarded([&] {
        if (normal_) {
            fused(run_, domain = x_, *user_x_ = x_, vv_ = dot(x_, x_));
            fused(run_, r = *b_);
        } else {
            fused(run_, domain = x_, *user_x_ = x_, r = *b_, vv_ = dot(x_, x_));
        }
        const reduction_into<T> norm = rr_ = dot(r, r);
        a_.apply(run_, T(-1), domain, T(1), r, {&norm, 1});
        enqueue_normal_residual(r, domain);
    });
}

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::enqueue_normal_residual(vector<T>& r, vector<T>& domain) {
    if (!normal_) return;
    put_ghosts(run_, r);
    T of_x = 0;
    if (damping() != 0) {
        add_damping();
        of_x = static_cast<T>(-damping() * damping());
    }
    a_.multiply_transposed(run_, r, of_x, domain, {norm_into(normal_->residual, domain)});
}

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::read_normal_residual() {
    if (!normal_) return;
    const auto now = run_.get({normal_->residual.number(), normal_->matrix.number(), rr_.number()});
    set_normal_residual(now[0], now[1], now[2], static_cast<double>(a_.factor()));
}

template <linear_operator A, preconditioner<typename A::value_type> M>
double iteration<A, M>::true_residual(vector<T>& r, vector<T>& domain, int exponent) {
    const trace_range range("true residual");
    if (exponent == 0) {
        enqueue_check(r, domain);
        return read_residual();
    }
    run_.set(control::state, as_register(loop_state::running));
    run_.unguarded([&] { fused(run_, domain = x_, *user_x_ = x_); });
    shift(domain, exponent);
    run_.unguarded([&] {
        fused(run_, vv_ = dot(domain, domain));
        residual(run_, a_, *b_, domain, r, rr_ = dot(r, r));
        enqueue_normal_residual(r, domain);
    });
    return read_residual();
}

template <linear_operator A, preconditioner<typename A::value_type> M>
double iteration<A, M>::read_residual() {
    const auto now = run_.get({rr_.number(), vv_.number()});
    xx_ = now[1];
    read_normal_residual();
    return now[0];
}

template <linear_operator A, preconditioner<typename A::value_type> M>
double iteration<A, M>::confirmed(vector<T>& r, vector<T>& domain, double rr, int exponent) {
    if constexpr (requires { original().doubled_residual(T(1), domain, *b_, r); }) {
        const double norm = std::sqrt(rr);
        const bool would_end = is_small(rr) || at_least_squares(norm);
        if (doubled_ ? !std::isfinite(rr) : !would_end) return rr;
        constexpr double epsilon = std::numeric_limits<T>::epsilon();
        // What rounding adds to r enters A'r times the norm of A.
        const double tolerance = is_small(rr) || !normal_ ? target() : *options_.rtol_normal * norm;
        const auto is_known = [&](const matrix_norms& of_a) {
            return of_a.rounding(epsilon, a_.factor(), xx_, bb_) <= tolerance;
        };
        if (const auto norms = original().kept().norms.get(); norms && is_known(*norms)) return rr;
        const trace_range range("residual in doubled precision");
        if (normal_) {
            run_.unguarded([&] { fused(run_, domain = x_); });
            shift(domain, exponent);
        }
        const auto columns = original().doubled_residual(a_.factor(), domain, *b_, r);
        if (columns.empty()) return rr;
        const residual_sums& sums = columns.front();
        if (is_known({sums.squares, sums.longest_row})) return rr;
        result_.residual_rounding =
            residual_rounding(sums.longest_row, epsilon, std::sqrt(sums.sizes)) / scale_;
        double exact = sums.rr + damping() * damping() * xx_;
        // Squares may vanish where r doesn't.
        if (sums.largest > 0) exact = std::max(exact, std::numeric_limits<double>::min());
        if (is_small(exact)) return exact;
        run_.unguarded([&] {
            fused(run_, rr_ = dot(r, r));
            enqueue_normal_residual(r, domain);
        });
        read_normal_residual();
        if (at_least_squares(std::sqrt(exact))) return exact;
        if (!doubled_) last_true_ = -1; // what has been said of progress was noise
        doubled_ = true;
        return exact;
    } else {
        return rr;
    }
}

} // namespace krylith
