// The scalar part of IDR(s), kept on every device in kernel_context::array: the systems with the
// lower triangular matrix P'G. van Gijzen and Sonneveld, ACM Trans. Math. Softw. 38(1), 2011,
// algorithm 2. There the new vector g is made orthogonal to p_0 ... p_(k-1) by one dot product
// after the other. All of P'g in one batch are enough: what is subtracted follows by forward
// substitution, and what is left of P'g too.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// Places in the array for s shadow vectors.
struct shadow_layout {
    std::int64_t s;

    /// The place of a batch P'g, and the squared norm of g.
    [[nodiscard]] KRYLITH_HD std::int64_t batch() const { return 0; }
    /// The place of P'r, and the squared norm of r.
    [[nodiscard]] KRYLITH_HD std::int64_t rhs() const { return s + 1; }
    /// The place of c with P'(r - G c) = 0, and that of -c.
    [[nodiscard]] KRYLITH_HD std::int64_t solution() const { return 2 * (s + 1); }
    [[nodiscard]] KRYLITH_HD std::int64_t negative() const { return solution() + s; }
    /// The place of what g has of g_0 ... g_(k-1).
    [[nodiscard]] KRYLITH_HD std::int64_t inside() const { return negative() + s; }
    /// The place of column k of P'G.
    [[nodiscard]] KRYLITH_HD std::int64_t column(std::int64_t k) const {
        return inside() + (k + 1) * s;
    }
    [[nodiscard]] KRYLITH_HD std::int64_t size() const { return column(s); }
};

/// The tasks of IDR(s) on these systems (vector/kernels/array_task.hpp).
struct shadow_task {
    enum kind_of : std::uint8_t { begin, solve, extend };
    /// The scalars that slots[] refers to.
    enum role : std::uint8_t {
        step,  ///< out: the factor of g in r
        pivot, ///< out: p_k'g_k
        scale, ///< out: the norm of g_k before it was made orthogonal; p_k has norm 1
        role_count
    };

    kind_of kind;
    std::int32_t column;
    std::int32_t s;
    std::uint8_t slots[role_count] = {};

    template <class Team>
    KRYLITH_HD void operator()(double* array, double* scalars, const Team& team) const {
        if (team.index() != 0) return;
        if (kind == begin) begin_with(array);
        if (kind == solve) solve_with(array);
        if (kind == extend) extend_with(array, scalars);
    }

private:
    /// P'G = I.
    KRYLITH_HD void begin_with(double* array) const {
        const shadow_layout at{s};
        for (std::int64_t k = 0; k < at.s; ++k)
            for (std::int64_t i = 0; i < at.s; ++i) array[at.column(k) + i] = i == k ? 1.0 : 0.0;
    }

    /// c from the rows and columns from k = `column` on; the entries before are 0.
    KRYLITH_HD void solve_with(double* array) const {
        const shadow_layout at{s};
        double* c = array + at.solution();
        for (std::int64_t i = 0; i < at.s; ++i) {
            double sum = i < column ? 0.0 : array[at.rhs() + i];
            for (std::int64_t j = column; j < i; ++j) sum -= array[at.column(j) + i] * c[j];
            c[i] = i < column ? 0.0 : sum / array[at.column(i) + i];
            array[at.negative() + i] = -c[i];
        }
    }

    /// Takes in P'g of the new g_k, k = `column`, and r -= step g_k in P'r.
    KRYLITH_HD void extend_with(double* array, double* scalars) const {
        const shadow_layout at{s};
        const std::int64_t k = column;
        const double* batch = array + at.batch();
        double* inside = array + at.inside();
        double* f = array + at.rhs();
        for (std::int64_t i = 0; i < at.s; ++i) {
            double left = batch[i];
            for (std::int64_t j = 0; j < (i < k ? i : k); ++j)
                left -= inside[j] * array[at.column(j) + i];
            if (i < k) inside[i] = left / array[at.column(i) + i];
            array[at.column(k) + i] = i < k ? 0.0 : left;
        }
        const double pivot = array[at.column(k) + k];
        const double step = f[k] / pivot;
        for (std::int64_t i = k; i < at.s; ++i)
            f[i] = i == k ? 0.0 : f[i] - step * array[at.column(k) + i];
        scalars[slots[role::step]] = step;
        scalars[slots[role::pivot]] = pivot;
        scalars[slots[role::scale]] = ::sqrt(batch[at.s]);
    }
};

} // namespace krylith
