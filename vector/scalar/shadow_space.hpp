// The scalar part of IDR(s), kept on every device in kernel_context::array: the systems with the
// lower triangular matrix P'G. van Gijzen and Sonneveld, ACM Trans. Math. Softw. 38(1), 2011,
// algorithm 2. There the new vector g is made orthogonal to p_0 ... p_(k-1) by one dot product
// after the other. All of P'g in one batch are enough: what is subtracted follows by forward
// substitution, and what is left of P'g too.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/vector/scalar/hessenberg.hpp>

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

/// The scalars that slots[] of an array_task refers to in these tasks.
namespace shadow_role {
enum : std::uint8_t {
    step,  ///< out: the factor of g in r
    pivot, ///< out: p_k'g_k
    scale, ///< out: the norm of g_k before it was made orthogonal; p_k has norm 1
    count
};
} // namespace shadow_role

namespace detail {

/// P'G = I.
KRYLITH_HD inline void begin_shadow(const array_task& task, double* array) {
    const shadow_layout at{task.m};
    for (std::int64_t k = 0; k < at.s; ++k)
        for (std::int64_t i = 0; i < at.s; ++i) array[at.column(k) + i] = i == k ? 1.0 : 0.0;
}

/// c from the rows and columns from k = `column` on; the entries before are 0.
KRYLITH_HD inline void solve_shadow(const array_task& task, double* array) {
    const shadow_layout at{task.m};
    double* c = array + at.solution();
    for (std::int64_t i = 0; i < at.s; ++i) {
        double sum = i < task.column ? 0.0 : array[at.rhs() + i];
        for (std::int64_t j = task.column; j < i; ++j) sum -= array[at.column(j) + i] * c[j];
        c[i] = i < task.column ? 0.0 : sum / array[at.column(i) + i];
        array[at.negative() + i] = -c[i];
    }
}

/// Takes in P'g of the new g_k, k = `column`, and r -= step g_k in P'r.
KRYLITH_HD inline void extend_shadow(const array_task& task, double* array, double* slots) {
    const shadow_layout at{task.m};
    const std::int64_t k = task.column;
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
    slots[task.slots[shadow_role::step]] = step;
    slots[task.slots[shadow_role::pivot]] = pivot;
    slots[task.slots[shadow_role::scale]] = ::sqrt(batch[at.s]);
}

} // namespace detail

} // namespace krylith
