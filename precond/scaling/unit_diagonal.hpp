// Kernels that scale a matrix to D^-1/2 A D^-1/2 / rho, where D = diag(A) and rho bounds the
// eigenvalues of D^-1 A.
//
// All levels of the hierarchy are scaled so. Smoothers then need neither a diagonal nor bounds of
// their own, and entries of any size fit into float.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::detail {

/// |sum| / size in units of 2^-16; 0 where size is 0 or nothing is finite.
[[nodiscard]] KRYLITH_HD inline std::uint64_t quantised_defect(double sum, double size) {
    const double ratio = size > 0 ? (sum < 0 ? -sum : sum) / size : 0;
    return ratio <= 1 ? static_cast<std::uint64_t>(65536 * ratio) : 0;
}

/// Two numbers u and v of [-128, 128) by a row, of a hash (the finaliser of MurmurHash3).
struct probe_pair {
    std::int32_t u;
    std::int32_t v;
};
[[nodiscard]] KRYLITH_HD inline probe_pair probe_of(std::int64_t global_row) {
    auto h = static_cast<std::uint32_t>(global_row) * 0x9e3779b9u + 0x7f4a7c15u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return {static_cast<std::int8_t>(h >> 24), static_cast<std::int8_t>((h >> 16) & 255)};
}

/// (u_i v_j - v_i u_j) b in units of 2^-30; b is bounded. The terms of an entry and its mirror
/// cancel where they are equal. The mean square of the factor of b is about 2^26.
[[nodiscard]] KRYLITH_HD inline std::int64_t mirror_term(probe_pair row, probe_pair column,
                                                         double b) {
    constexpr double most = 70368744177664.0; // 2^46
    const double units = b * 1073741824.0;
    const auto term = static_cast<std::int64_t>(units > -most && units < most ? units : most);
    return term * (row.u * column.v - row.v * column.u);
}

/// What scaling a matrix found on one device. It lies there and is zero before. All fields are
/// maxima, so that threads may report in any order; numbers are kept as the bits of a double that
/// is not negative, which ascend as the numbers do.
struct scaling_report {
    std::uint64_t bad;          ///< 2^64 - 1 - i for the first row i whose diagonal entry, or its
                                ///< inverse root, is not positive and finite; 0: none
    std::uint64_t largest;      ///< the largest entry of D^-1/2
    std::uint64_t inverse;      ///< the largest entry of D^1/2
    std::uint64_t bound;        ///< Gershgorin's bound of D^-1 A: the largest sum of |a_ij| / a_ii
    std::uint64_t any_positive; ///< 1 where an entry off the diagonal is positive
};

/// Where scale_entries() adds up the mirror_term() of all entries of B by their global rows and
/// columns, of factor b_ij: an integer modulo 2^64, the same in any order.
struct mirror_sum {
    column_numbers columns = {}; ///< of the device
    double factor = 1;
    std::uint64_t* sum = nullptr; ///< on the device; null: nowhere
};

} // namespace krylith::detail

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues s_i = a_ii^-1/2 for the rows of a device; row i has its diagonal in local column
    /// first_owned + i, and entries at one place add up. Reports all.
    template <class T>
    void inverse_roots(device& on, const device_csr_view<T>& a, std::int64_t first_owned, double* s,
                       detail::scaling_report* report);
    /// Enqueues to[k] = b_ij = factor s_i a_ij s_j for the entries k of a device. s is by local
    /// columns; row i is column first_owned + i. `to` may be the values of `a`.
    template <class T, class W>
    void scale_entries(device& on, const device_csr_view<T>& a, const double* s,
                       std::int64_t first_owned, double factor, W* to,
                       const detail::mirror_sum& mirrored);
    /// Enqueues values[k] *= factor s_i; s is by rows.
    template <class W> void scale_rows(device& on, const device_csr_view<W>& a, const double* s,
                                       double factor, W* values);
    /// Enqueues *sum += the sum over rows of |sum_j b_ij v_j| / sum_j |b_ij v_j| in units of 2^-16,
    /// an integer: the same in any order. v is by local columns.
    template <class W>
    void null_defect(device& on, const device_csr_view<W>& b, const W* v, std::uint64_t* sum);)

} // namespace krylith
