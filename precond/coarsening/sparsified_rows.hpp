// The rows of a matrix without its small entries, on one device.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// Rows of one rank, whose columns ascend strictly.
template <class T>
struct sparsified_rows {
    rank_rows a;
    const T* values;
    const T* v;         ///< by local columns
    const T* weights;   ///< the same: what is_small() takes
    double drop;        ///< the same
    std::uint8_t* kept; ///< [nonzeros] whether an entry stays
    std::int64_t mean_entries;
};

/// What is moved to the diagonal leaves it this fraction of what it was, at least.
inline constexpr double least_diagonal = 0.05;

/// Sums of what is moved are integers in these units of the diagonal: the same in any order.
inline constexpr double moved_units = 1099511627776.0; // 2^40

/// a_ij v_j / (v_i a_ii) in those units; 1 stands for all that is larger, and for what is no
/// number.
[[nodiscard]] KRYLITH_HD inline long long units_moved(double entry, double v_j, double weight_i) {
    const double part = entry * v_j / std::fabs(weight_i);
    if (part < -1) return -static_cast<long long>(moved_units);
    return static_cast<long long>(part < 1 ? part * moved_units : moved_units);
}

/// The diagonal entry with what was moved to it.
[[nodiscard]] KRYLITH_HD inline double diagonal_with(double diagonal, long long moved) {
    const double part = 1 + static_cast<double>(moved) / moved_units;
    return diagonal * (part > least_diagonal ? part : least_diagonal);
}

/// Enqueues which entries stay, and how many of each row.
template <class T>
void find_kept(device& device, const sparsified_rows<T>& rows, std::int32_t* counts);

/// Enqueues the rows without the others: a_ij v_j / v_i of these goes to the diagonal, so that A v
/// stays. `offsets` are those of the result; a null `columns` leaves its columns as they are.
template <class T>
void fill_kept(device& device, const sparsified_rows<T>& rows, const std::int64_t* offsets,
               std::int32_t* columns, T* values);

namespace cuda {
template <class T>
void find_kept(device& device, const sparsified_rows<T>& rows, std::int32_t* counts);
template <class T>
void fill_kept(device& device, const sparsified_rows<T>& rows, const std::int64_t* offsets,
               std::int32_t* columns, T* values);
} // namespace cuda

} // namespace krylith::aggregation
