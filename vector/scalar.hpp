// Device scalars: numbers that live on every device and that the host never waits for.
#pragma once

#include <krylith/vector/execution.hpp>
#include <krylith/vector/precision/vector_operand.hpp>

namespace krylith {

/// The value of an expression; it is valid until the next kernel.
struct scalar_value {
    execution* run;
    std::uint8_t number;
};

/// A dot product with the scalar that it goes to: `rr = dot(r, r)`.
template <class T>
struct reduction_into {
    using value_type = T;
    std::uint8_t number;
    vector_operand<T> a;
    vector_operand<T> b;
};

template <class T>
struct dot_product {
    vector_operand<T> a;
    vector_operand<T> b;
};

/// The sum over owned rows, in double whatever the vectors' types. It only has a meaning as an
/// argument of the operation that computes it; only fused updates take vectors of two types.
template <class T>
[[nodiscard]] dot_product<T> dot(const vector<T>& a, const vector<T>& b) {
    return {&a, &b};
}
[[nodiscard]] inline dot_product<double> dot(const vector<double>& a, const vector<float>& b) {
    return {&a, &b};
}
[[nodiscard]] inline dot_product<double> dot(const vector<float>& a, const vector<double>& b) {
    return {&a, &b};
}

/// A named device scalar (double for every vector type). Assignments are recorded and evaluated by
/// the kernel that next needs them.
class scalar {
public:
    explicit scalar(execution& run) : run_(&run), number_(run.new_register()) {}
    scalar(const scalar&) = delete;

    ~scalar() = default;

    scalar& operator=(const scalar& other) { // self-assignment is right: it copies a value
        run_->assign(number_, other.number_);
        return *this;
    }
    scalar& operator=(const scalar_value& v) {
        run_->assign(number_, v.number);
        return *this;
    }
    scalar& operator=(scalar_value&& v) {
        run_->take(number_, v.number);
        return *this;
    }
    scalar& operator=(double c) { return *this = scalar_value{run_, run_->constant(c)}; }

    template <class T>
    [[nodiscard]] reduction_into<T> operator=(dot_product<T> d) { // NOLINT: a proxy on purpose
        return {number_, d.a, d.b};
    }

    [[nodiscard]] scalar_value value() const { return {run_, number_}; }
    [[nodiscard]] std::uint8_t number() const { return number_; }
    [[nodiscard]] execution& run() const { return *run_; }
    operator scalar_value() const { return value(); } // NOLINT: scalars are expressions

private:
    execution* run_;
    std::uint8_t number_;
};

namespace detail {

inline scalar_value record(scalar_opcode code, scalar_value a, scalar_value b) {
    const std::uint8_t to = a.run->temporary();
    a.run->record(code, to, a.number, b.number);
    return {a.run, to};
}

} // namespace detail

inline scalar_value operator+(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::add, a, b);
}
inline scalar_value operator-(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::subtract, a, b);
}
inline scalar_value operator*(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::multiply, a, b);
}
inline scalar_value operator/(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::divide, a, b);
}
inline scalar_value operator-(scalar_value a) {
    return detail::record(scalar_opcode::negate, a, a);
}
inline scalar_value sqrt(scalar_value a) {
    return detail::record(scalar_opcode::square_root, a, a);
}

/// Ends an iteration: counts it, notes its squared residual norm, and stops the loop where that is
/// small enough, not finite, diverging, or the limits are reached.
inline void test_residual(scalar_value rr) {
    rr.run->record(scalar_opcode::test, control::residual, rr.number, 0);
}

/// The same, and keeps alpha and beta of the iteration with its norm, where
/// execution_options::coefficients makes room for them.
inline void test_residual(scalar_value rr, scalar_value alpha, scalar_value beta) {
    rr.run->record(scalar_opcode::test, beta.number, rr.number, alpha.number);
}

/// Counts an iteration inside a cycle (GMRES), by an estimate of its squared residual norm.
inline void test_estimate(scalar_value rr) {
    rr.run->record(scalar_opcode::estimate, control::residual, rr.number, 0);
}

inline scalar_value maximum(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::maximum, a, b);
}

/// Stops the loop with loop_state::converged where the squared residual norm that it would start
/// with is at most control::target.
inline void test_start(scalar_value rr) {
    rr.run->record(scalar_opcode::start, control::residual, rr.number, 0);
}

/// Stops the loop with `why` unless the squared norm is one of a vector of T that needs no scaling
/// (is_ordinary).
template <class T>
void require_ordinary(scalar_value squared_norm, loop_state why) {
    squared_norm.run->record(scalar_opcode::ordinary, sizeof(T), squared_norm.number,
                             static_cast<std::uint8_t>(why));
}

/// Returns a / b, or 0 if b is 0.
inline scalar_value divide_or_zero(scalar_value a, scalar_value b) {
    return detail::record(scalar_opcode::divide_or_zero, a, b);
}

/// Stops the loop with `why` unless a > 0.
inline void require_positive(scalar_value a, loop_state why) {
    a.run->record(scalar_opcode::positive, control::state, a.number,
                  static_cast<std::uint8_t>(why));
}

/// Stops the loop with `why` if |a| <= eps |scale|.
inline void require_nonzero(scalar_value a, scalar_value scale, loop_state why) {
    a.run->record(scalar_opcode::nonzero, scale.number, a.number, static_cast<std::uint8_t>(why));
}

/// Ends a cycle (GMRES) by the squared norm of the true residual: stops the loop or lets it go on.
inline void finish_cycle(scalar_value rr) {
    rr.run->record(scalar_opcode::finish, control::residual, rr.number, 0);
}

} // namespace krylith
