// The operator s A, where s is a power of two that is found when the solve begins.
#pragma once

#include <cmath>
#include <initializer_list>
#include <span>

#include <krylith/device/error.hpp>
#include <krylith/device/trace/trace_range.hpp>
#include <krylith/solvers/concepts.hpp>

namespace krylith {

/// The operator s A. s goes into alpha, so a product costs the same as with A.
template <linear_operator A>
class scaled_operator {
public:
    using value_type = typename A::value_type;
    using T = value_type;

    explicit scaled_operator(const A& a) : a_(a) {}

    /// Sets s = 2^exponent.
    void scale(int exponent) { factor_ = std::ldexp(T(1), exponent); }

    [[nodiscard]] T factor() const { return factor_; }
    [[nodiscard]] const A& original() const { return a_; }

    /// The layout of x and y where they have one.
    [[nodiscard]] layout_handle layout() const { return a_.layout(); }
    [[nodiscard]] layout_handle domain_layout() const { return domain_layout_of(a_); }
    [[nodiscard]] layout_handle range_layout() const { return range_layout_of(a_); }
    [[nodiscard]] vector<T> make_range_vector() const { return a_.make_range_vector(); }
    [[nodiscard]] vector<T> make_domain_vector() const { return a_.make_domain_vector(); }
    [[nodiscard]] bool recordable() const { return a_.recordable(); }

    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const {
        const trace_range range("product");
        a_.apply(run, alpha * factor_, x, beta, y, dots);
    }

    /// Enqueues y = s A' x + beta y with the dots; x is a domain vector of A'.
    void multiply_transposed(execution& run, const vector<T>& x, T beta, vector<T>& y,
                             std::initializer_list<reduction_into<T>> dots = {}) const {
        if constexpr (transposable_operator<A>) {
            const trace_range range("transposed product");
            a_.transposed().apply(run, factor_, x, beta, y,
                                  std::span<const reduction_into<T>>(dots.begin(), dots.size()));
        } else {
            throw usage_error("products with A' need an operator that has transposed()");
        }
    }

private:
    const A& a_;
    T factor_ = 1;
};

} // namespace krylith
