// Computes the rows of approximate inverses, each by a small dense system.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>

namespace krylith::detail {

/// The most entries of a row.
inline constexpr int longest_row = 32;

/// A pivot of normal equations that is less than so much of the diagonal it began as is rounding:
/// the rows are linearly dependent.
template <class T>
inline constexpr T dependent_rows = 64 * std::numeric_limits<T>::epsilon();

/// Rows of A for the local columns of an approximate inverse, with global columns that ascend.
template <class T>
struct rows_of_matrix {
    const std::int64_t* offsets = nullptr;
    const std::int32_t* columns = nullptr;
    const T* values = nullptr;
};

/// The rows of an approximate inverse on a device, columns ascending, and what they are made of.
template <class T>
struct inverse_rows {
    std::int64_t rows = 0;
    const std::int64_t* offsets = nullptr;
    const std::int32_t* indices = nullptr; ///< local columns
    column_numbers columns = {};
    T* values = nullptr;
    rows_of_matrix<T> a; ///< by local column
    /// false: row i of G of the factorised sparse approximate inverse G'G, with A(P, P) y = e_i on
    /// its pattern P, g = y / sqrt(y_i). true: row i of the sparse approximate inverse M that
    /// minimises |m A - e_i|, by its normal equations A(P, :) A(P, :)' m' = A(P, i).
    bool least_squares = false;
    int longest = longest_row; ///< no row has more entries
};

/// The element of the system of a row in line p and column q <= p, where rows of A are those of
/// local columns.
template <class T>
[[nodiscard]] KRYLITH_HD inline T product_of_rows(const rows_of_matrix<T>& a, std::int32_t p,
                                                  std::int32_t q) {
    std::int64_t i = a.offsets[p];
    std::int64_t j = a.offsets[q];
    const std::int64_t i_end = a.offsets[p + 1];
    const std::int64_t j_end = a.offsets[q + 1];
    T sum = 0;
    while (i < i_end && j < j_end) {
        const std::int32_t one = a.columns[i];
        const std::int32_t other = a.columns[j];
        if (one == other) sum += a.values[i] * a.values[j];
        i += one <= other;
        j += other <= one;
    }
    return sum;
}

/// The entry of a row of A in a global column.
template <class T>
[[nodiscard]] KRYLITH_HD inline T entry_of_row(const rows_of_matrix<T>& a, std::int32_t p,
                                               std::int32_t column) {
    for (std::int64_t k = a.offsets[p]; k < a.offsets[p + 1]; ++k)
        if (a.columns[k] == column) return a.values[k];
    return T(0);
}

} // namespace krylith::detail

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues the values of the rows, the same whatever the device has besides. On CUDA devices
    /// 4, 8, 16 or 32 lanes have a row, its system in registers. The report, zero before, gets the
    /// first row whose system is not positive definite, or has no finite solution, as
    /// inversion_report::bad, and the exponent of the largest value.
    template <class T> void solve_inverse_rows(device& device, const detail::inverse_rows<T>& g,
                                               inversion_report* report);)

} // namespace krylith
