// The kernels of joint loops: a pass over the vectors of several right-hand sides with one matrix,
// made of what a method does with the entries of one column in one row. Vectors of k columns lie
// row by row: entry (i, j) is number i k + j, so that one nonzero is read once and multiplies k
// neighbours.
//
// A pass is a struct of static members, over vectors that the method numbers:
// - product, the vector that A multiplies, or no_product (column_pass has usual answers);
// - reads and writes, sets of vectors (in_set);
// - sums, how many values a column it reduces, and first_sum(places), where they go in the array;
// - awaits(places), where the sums lie that the pass before has reduced;
// - uses_diagonal, whether it applies M;
// - coefficients<T>, and prepare<T>(array, arrived, places, j), which finds those of column j from
//   the array and from the sums that have just arrived;
// - apply(c, d, product, e, sums), which changes the entries e of the vectors and adds to the sums;
//   d is the entry of M^-1, which like the product has the column's factor.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/solvers/table/joint_preconditioner.hpp>
#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

inline constexpr int max_column_vectors = 11;
inline constexpr int no_product = -1;

/// The set of these vectors.
template <class... Numbers>
[[nodiscard]] constexpr unsigned in_set(Numbers... vectors) {
    return (0U | ... | (1U << vectors));
}

/// The places in kernel_context::array of the numbers of k columns: k of each. Those that all
/// methods have come first. Sums of one pass are neighbours, because they arrive as one batch.
struct column_places {
    int k;

    [[nodiscard]] KRYLITH_HD constexpr int rr() const { return 0; }         ///< r'r
    [[nodiscard]] KRYLITH_HD constexpr int extra() const { return k; }      ///< another sum with it
    [[nodiscard]] KRYLITH_HD constexpr int target() const { return 2 * k; } ///< squared
    [[nodiscard]] KRYLITH_HD constexpr int ceiling() const { return 3 * k; } ///< squared
    [[nodiscard]] KRYLITH_HD constexpr int state() const { return 4 * k; }   ///< a loop_state
    [[nodiscard]] KRYLITH_HD constexpr int iterations() const { return 5 * k; }
    /// Squared, at the last test.
    [[nodiscard]] KRYLITH_HD constexpr int residual() const { return 6 * k; }
    /// The powers of two by which the loop multiplies A and M^-1
    /// (solvers/joint/column_scaling.hpp).
    [[nodiscard]] KRYLITH_HD constexpr int factor() const { return 7 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int inverse_factor() const { return 8 * k; }
    [[nodiscard]] KRYLITH_HD constexpr int xx() const { return 9 * k; } ///< x'x, at the last check
    /// The numbers of the method.
    [[nodiscard]] KRYLITH_HD constexpr int own(int i) const { return (10 + i) * k; }
};

/// One rank's rows and vectors; plain data for kernels.
template <class T>
struct column_operands {
    int columns;               ///< 2, 4, 8 or 16
    std::int64_t rows;         ///< owned
    compressed_rows<T> matrix; ///< with local columns
    const T* inverse_diagonal; ///< [rows] of M; null without preconditioner, or without rows
    T* vectors[max_column_vectors];
    std::int64_t before; ///< entries of ghosts before vectors that products read
    reduction reduce;

    /// The vector by local columns.
    [[nodiscard]] KRYLITH_HD const T* by_columns(int vector) const {
        return vectors[vector] - before;
    }
};

template <class T>
struct column_arguments : column_operands<T> {
    kernel_context common;
};

/// What most passes have: no product, no M, and no coefficients. They override the rest.
struct column_pass {
    static constexpr int product = no_product;
    static constexpr bool uses_diagonal = false;
    KRYLITH_HD static constexpr int awaits(const column_places& at) { return at.rr(); }
    template <class T>
    struct coefficients {};
    template <class T>
    KRYLITH_HD static coefficients<T> prepare(const double*, const double*, const column_places&,
                                              int) {
        return {};
    }
};

/// The factors of the product and of the entries of M^-1 that a pass hands to apply().
template <class T>
struct column_factors {
    T product;
    T inverse;
};
template <class Pass, class T>
[[nodiscard]] KRYLITH_HD column_factors<T> factors_of(const double* array, const column_places& at,
                                                      int j) {
    return {Pass::product != no_product ? static_cast<T>(array[at.factor() + j]) : T(1),
            Pass::uses_diagonal ? static_cast<T>(array[at.inverse_factor() + j]) : T(1)};
}

/// The entry of M^-1 in a row, without the column's factor; 1 without M.
template <class Pass, class T>
[[nodiscard]] KRYLITH_HD T inverse_diagonal(const column_operands<T>& a, std::int64_t row) {
    if constexpr (Pass::uses_diagonal)
        if (a.inverse_diagonal != nullptr) return a.inverse_diagonal[row];
    return T(1);
}

/// A term of a dot product.
template <class T>
[[nodiscard]] KRYLITH_HD double column_term(T a, T b) {
    return static_cast<double>(a) * static_cast<double>(b);
}

/// What tests begin with: counts the iteration, takes r'r, and says in which state that leaves the
/// column, running or not. Nothing changes in a column that has stopped before.
KRYLITH_HD inline loop_state test_column(double* array, const double* arrived,
                                         const column_places& at, int j) {
    const double rr = arrived[j];
    array[at.iterations() + j] += 1.0;
    array[at.residual() + j] = rr;
    if (!(rr - rr == 0.0)) return loop_state::not_a_number;
    if (rr <= array[at.target() + j]) return loop_state::converged;
    if (rr > array[at.ceiling() + j]) return loop_state::diverged;
    return loop_state::running;
}

/// The state of a column whose r'M^-1 r is this.
KRYLITH_HD inline loop_state begun_with(double product) {
    if (!(product - product == 0.0)) return loop_state::not_a_number;
    return product > 0.0 ? loop_state::running : loop_state::indefinite_preconditioner;
}

KRYLITH_HOST_AND_CUDA(
    /// Enqueues a pass on the device. Defined in column_pass_host.hpp.
    template <class Pass, class T> void run_pass(device& device, const column_arguments<T>& a);
    /// Enqueues Method::test(array, arrived, places, j) for each column, and reduces the number of
    /// columns that go on.
    template <class Method, class T> void run_test(device& device, const column_arguments<T>& a);)

} // namespace krylith
