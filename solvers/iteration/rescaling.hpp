// How an iteration scales the system by powers of two, and x back (solvers/iteration.hpp includes
// it).
#pragma once

#include <algorithm>
#include <cmath>

#include <krylith/solvers/iteration.hpp>

namespace krylith {

template <linear_operator A, preconditioner<typename A::value_type> M>
bool iteration<A, M>::norms_in_range(vector<T>& r, vector<T>& domain) {
    (void)multiply_b(r, domain, rr_);
    const auto norms = run_.get({bb_of_b_.number(), rr_.number()});
    bb_ = norms[0];
    return std::all_of(norms.begin(), norms.end(), ordinary<T>);
}

template <linear_operator A, preconditioner<typename A::value_type> M>
bool iteration<A, M>::rescale(vector<T>& r, vector<T>& domain) {
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
        const vector<T>& product = multiply_b(r, domain, rr_);
        bb_ = run_.get(bb_of_b_.number());
        return exponent_of(product, finite);
    };
    int of_a = -of_product();
    // The squared norm is 0 also where entries are small; where all are 0, so is the exponent.
    if (of_a > least_product<T> || (of_a == 0 && run_.get(rr_.number()) == 0)) {
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

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::scale_b(int exponent) {
    if (exponent == 0) return;
    factor_ = std::ldexp(1.0, exponent);
    fused(run_, own_b() = factor_ * *b_);
    b_ = &own_b();
    scale_ *= std::ldexp(1.0, exponent);
}

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::end(vector<T>& r, vector<T>& domain) {
    if (x_exponent_ != 0) {
        shift(x_, x_exponent_);
        double rr = true_residual(r, domain, -x_exponent_);
        if (result_.converged()) rr = confirmed(r, domain, rr, -x_exponent_);
        check_shifted_convergence(rr);
    }
    run_.comm().synchronize();
    finish_history(std::ldexp(static_cast<double>(a_.factor()), m_exponent_));
}

template <linear_operator A, preconditioner<typename A::value_type> M>
void iteration<A, M>::shift(vector<T>& v, int exponent) {
    while (exponent != 0) {
        const int step = std::clamp(exponent, -largest_exponent<T>, largest_exponent<T>);
        factor_ = std::ldexp(1.0, step);
        run_.unguarded([&] { fused(run_, v = factor_ * v); });
        exponent -= step;
    }
}

} // namespace krylith
