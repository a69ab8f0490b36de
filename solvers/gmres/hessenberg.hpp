// The small least-squares problem of a Krylov basis, kept on every device in kernel_context::array:
// min || beta e1 - H y || with H upper Hessenberg, by Givens rotations, one column at a time. Saad,
// Iterative Methods, 2nd ed., section 6.5.3.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// Places in the array for a basis of m + 1 vectors.
struct hessenberg_layout {
    std::int64_t m;

    /// Places of the coefficients of a new vector, first and second orthogonalisation; the place
    /// after the last coefficient takes the squared norm before.
    [[nodiscard]] KRYLITH_HD std::int64_t first() const { return 0; }
    [[nodiscard]] KRYLITH_HD std::int64_t second() const { return m + 2; }
    [[nodiscard]] KRYLITH_HD std::int64_t column(std::int64_t j) const {
        return 2 * (m + 2) + j * (m + 1);
    }
    [[nodiscard]] KRYLITH_HD std::int64_t cosine() const { return column(m); }
    [[nodiscard]] KRYLITH_HD std::int64_t sine() const { return cosine() + m; }
    [[nodiscard]] KRYLITH_HD std::int64_t rhs() const { return sine() + m; }
    /// The place of -y, so that x -= V (-y).
    [[nodiscard]] KRYLITH_HD std::int64_t solution() const { return rhs() + m + 1; }
    [[nodiscard]] KRYLITH_HD std::int64_t size() const { return solution() + m; }
};

/// The scalars that a step on one Hessenberg matrix leaves; hessenberg_task::role says what they
/// are.
struct hessenberg_results {
    double& estimate;
    double& columns;
    double& lucky;
};

namespace detail {

/// Adds column j, complete in column(j), to the triangular system.
KRYLITH_HD inline void take_in(const hessenberg_layout& at, std::int64_t j, double* array,
                               const hessenberg_results& out) {
    double* h = array + at.column(j);
    double* c = array + at.cosine();
    double* s = array + at.sine();
    double* g = array + at.rhs();
    for (std::int64_t i = 0; i < j; ++i) {
        const double t = c[i] * h[i] + s[i] * h[i + 1];
        h[i + 1] = -s[i] * h[i] + c[i] * h[i + 1];
        h[i] = t;
    }
    const double r = hypot(h[j], h[j + 1]);
    c[j] = r > 0 ? h[j] / r : 1.0;
    s[j] = r > 0 ? h[j + 1] / r : 0.0;
    h[j] = r;
    g[j + 1] = -s[j] * g[j];
    g[j] = c[j] * g[j];
    // A zero column (singular A) does not reduce the residual.
    if (!(r > 0)) g[j + 1] = g[j];
    // A column with a NaN or an infinity does not reduce it either, but must not look like
    // progress: r - r is NaN.
    out.estimate = r - r == 0.0 ? g[j + 1] * g[j + 1] : r - r;
    out.columns = static_cast<double>(j + 1);
}

/// Leaves the -y of the first `columns` columns in solution().
KRYLITH_HD inline void back_substitute(const hessenberg_layout& at, std::int64_t columns,
                                       double* array) {
    double* y = array + at.solution();
    double largest = 0;
    for (std::int64_t j = 0; j < columns; ++j)
        largest = fmax(largest, fabs(array[at.column(j) + j]));
    for (std::int64_t j = at.m - 1; j >= 0; --j) {
        y[j] = 0;
        if (j >= columns) continue;
        double sum = array[at.rhs() + j];
        for (std::int64_t i = j + 1; i < columns; ++i) sum += array[at.column(i) + j] * y[i];
        const double pivot = array[at.column(j) + j];
        // A vanishing pivot (singular A) leaves its direction out.
        if (fabs(pivot) > 1e-14 * largest) y[j] = -sum / pivot;
    }
}

} // namespace detail

} // namespace krylith
