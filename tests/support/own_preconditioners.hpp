// Preconditioners as a user would write them: in operations of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::testing {

/// Two steps of Jacobi, z = D^-1 r + D^-1 (r - A D^-1 r), which is SPD for Poisson.
template <class T>
class two_steps {
public:
    explicit two_steps(const matrix_operator<T>& a)
        : a_(a), d_(a), first_(a.make_domain_vector()), rest_(a.make_range_vector()) {}

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const {
        fused(run, first_ = *d_.pointwise(r));
        residual(run, a_, r, first_, rest_);
        fused(run, z = first_ + *d_.pointwise(rest_), dots);
    }
    [[nodiscard]] bool recordable() const { return a_.recordable(); }
    [[nodiscard]] std::int64_t bytes() const { return d_.bytes(); }
    [[nodiscard]] std::string name() const { return "two steps of Jacobi"; }

private:
    const matrix_operator<T>& a_;
    jacobi<T> d_;
    mutable vector<T> first_;
    mutable vector<T> rest_;
};

/// Jacobi that the host must enqueue anew each time; it counts these times.
template <class T>
class unrecordable {
public:
    explicit unrecordable(const matrix_operator<T>& a) : d_(a) {}

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots) const {
        ++applications_;
        d_.apply(run, r, z, dots);
    }
    [[nodiscard]] int applications() const { return applications_; }
    [[nodiscard]] bool recordable() const { return false; }
    [[nodiscard]] std::int64_t bytes() const { return d_.bytes(); }
    [[nodiscard]] std::string name() const { return "unrecordable"; }

private:
    jacobi<T> d_;
    mutable int applications_ = 0;
};

} // namespace krylith::testing
