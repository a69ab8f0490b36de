// Singular systems whose null space are the constant vectors, as of Laplace's equation with Neumann
// conditions all around: A 1 = 0 and A' 1 = 0. They have solutions where the entries of b add up to
// 0, and then one whose entries do.
//
//     const constant_null_space<double> constants(*a);
//     const double inconsistent = constants.remove(b);
//     const auto m = constants.project(amg<double>(*a, matrix));
//     const solve_result result = cg(*a, b, x, {}, m);
//     constants.remove(x);
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/memory/unmoved.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/kept/execution_register.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith {

template <class T, class M>
class projected_preconditioner;

/// Takes the mean from vectors of an operator. It keeps one vector; it may be copied, and copies
/// share it. Sums have a fixed order, as those of all inner products have.
template <class T>
class constant_null_space {
public:
    /// Throws usage_error unless x and A x are of one layout.
    explicit constant_null_space(const matrix_operator<T>& a)
        : ones_(std::make_shared<vector<T>>(square_layout(a.layouts(), "constant_null_space"),
                                            "null space")) {
        ones_->upload(std::vector<T>(static_cast<std::size_t>(a.size()), T(1)));
    }

    /// Removes the mean, and returns the norm of what was taken away over that of v: 0 where A x =
    /// v has a solution, and up to 1; 0 for v = 0, and not a number where v has entries that are
    /// not finite, which it leaves as they are. v may be of any size: where its square leaves the
    /// range of double, it is scaled by a power of two, by way of the host. What stays is the part
    /// of v that A x can be: x is then the least squares solution of A x = v. Waits for the
    /// devices. Collective, as the constructor is.
    double remove(vector<T>& v) const {
        return v.layout()->comm.together([&] { return remove_together(v); });
    }

    /// Returns the preconditioner Q M^-1, where Q takes the mean away: without it rounding in M
    /// makes the mean of x grow. Cost: two passes more. M is taken over, or copied.
    template <preconditioner<T> M>
    [[nodiscard]] projected_preconditioner<T, M> project(M m) const {
        return {*this, std::move(m)};
    }

    [[nodiscard]] const vector<T>& ones() const { return *ones_; }
    /// Returns -sum / n, what every entry loses.
    [[nodiscard]] scalar_value share(execution& run, const scalar_value& sum) const {
        const auto n = static_cast<double>(std::max<std::int64_t>(1, ones().size()));
        return scalar_value{&run, run.constant(-1 / n)} * sum;
    }
    [[nodiscard]] std::int64_t bytes() const {
        const layout& layout = *ones().layout();
        return layout.held(layout.comm.first_local()) * static_cast<std::int64_t>(sizeof(T));
    }

private:
    /// remove() of one driver.
    double remove_together(vector<T>& v) const {
        execution run(v.layout()->comm, {});
        scalar sum(run);
        scalar square(run);
        const auto remove_mean = [&](vector<T>& of) {
            fused(run, sum = dot(ones(), of), square = dot(of, of));
            const auto found = run.get({sum.number(), square.number()});
            if (!is_ordinary(found[1], sizeof(T))) return -1.0;
            fused(run, of += share(run, sum.value()) * ones());
            run.comm().synchronize();
            return std::fabs(found[0]) / std::sqrt(static_cast<double>(of.size()) * found[1]);
        };
        if (const double found = remove_mean(v); found >= 0) return found;
        std::vector<T> values(static_cast<std::size_t>(v.size()));
        v.download(values);
        T largest = 0;
        for (const T value : values) {
            if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
            largest = std::max(largest, std::fabs(value));
        }
        if (largest == T(0)) return 0;
        const int exponent = std::ilogb(largest);
        for (T& value : values) value = std::ldexp(value, -exponent);
        vector<T> scaled(v.layout(), "null space");
        scaled.upload(values);
        const double found = remove_mean(scaled);
        fused(run, v = scalar_value{&run, run.constant(std::ldexp(1.0, exponent))} * scaled);
        run.comm().synchronize();
        return found;
    }

    unmoved<std::shared_ptr<vector<T>>> ones_;
};

/// Q M^-1 of constant_null_space::project(), a preconditioner like any other. Solvers record it in
/// every solve.
template <class T, class M>
class projected_preconditioner {
public:
    projected_preconditioner(constant_null_space<T> constants, M m)
        : constants_(std::move(constants)), m_(std::move(m)) {}

    void apply(execution& run, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots = {}) const {
        const std::uint8_t sum = sum_.in(run);
        const reduction_into<T> add{sum, &constants_.ones(), &z};
        precondition<T>(run, m_, r, z, add);
        fused(run, z += constants_.share(run, scalar_value{&run, sum}) * constants_.ones(), dots);
    }
    [[nodiscard]] bool recordable() const {
        if constexpr (std::same_as<M, identity>)
            return true;
        else
            return m_.recordable();
    }
    [[nodiscard]] std::int64_t bytes() const {
        if constexpr (std::same_as<M, identity>)
            return constants_.bytes();
        else
            return constants_.bytes() + m_.bytes();
    }
    [[nodiscard]] std::string name() const { return std::string(m_.name()) + " without constants"; }
    [[nodiscard]] int kernels() const { return kernels_of(m_) + 1; }
    [[nodiscard]] bool varies() const { return krylith::varies(m_); }
    [[nodiscard]] bool symmetric() const { return may_be_symmetric(m_); }
    /// M, for update().
    [[nodiscard]] M& inner() { return m_; }

private:
    constant_null_space<T> constants_;
    M m_;
    mutable execution_register sum_;
};

} // namespace krylith
