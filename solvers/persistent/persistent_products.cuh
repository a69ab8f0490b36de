// The rows of a persistent kernel: their products with the direction z + beta p, and the waits for
// the pairs of peers. Included by .cu files only.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/peer_memory.cuh>
#include <krylith/solvers/persistent/persistent_slices.cuh>
#include <krylith/vector/execution/compact_context.cuh>

namespace krylith::cuda {

/// The pairs that a thread loads at once: a whole 7-point row.
inline constexpr int pairs_in_flight = 7;

// Functions that few rows need are not inlined: the loop must fit into the instruction cache.

/// Waits until the pairs that a row needs and peers send in all-reduce `epoch` have arrived.
template <class T>
__device__ __noinline__ void wait_for_pairs(const long_context& f, const persistent_arguments<T>& a,
                                            const slice_reader<T>& slice, std::uint64_t epoch) {
    for (std::int32_t k = 0; k < slice.length; ++k) {
        const std::int32_t column = slice.column(k);
        if (column < 0 || a.owns(column)) continue;
        const stamped_value* const from = a.ghost(column);
        wait_until(f.all_reduce, f.all_reduce.rank, [&] {
            return load_stamped(from).epoch == epoch && load_stamped(from + 1).epoch == epoch;
        });
    }
}

/// Returns a row of a regular slice times the direction z + beta p. Lanes without an entry multiply
/// some pair by 0; no pair is infinite, or the solve has ended.
template <class T>
__device__ T multiply_regular(const persistent_arguments<T>& a, const near_pairs<T>& near,
                              const slice_reader<T>& slice, T beta) {
    T sum[2] = {};
    for (std::int32_t k = 0; k < slice.length; k += pairs_in_flight) {
        direction_pair<T> pair[pairs_in_flight];
        T value[pairs_in_flight];
#pragma unroll
        for (int u = 0; u < pairs_in_flight; ++u) {
            if (k + u >= slice.length) break;
            const std::int32_t word = slice.steps[k + u].base;
            const std::int32_t column = slice.row + (word >> 1);
            value[u] = slice.value(k + u);
            pair[u] = (word & 1) != 0 ? near.pairs[column - near.first]
                                      : a.pairs[min(max(column, 0), a.rows - 1)];
        }
#pragma unroll
        for (int u = 0; u < pairs_in_flight; ++u) {
            if (k + u >= slice.length) break;
            sum[u % 2] += value[u] * fma(beta, pair[u].p, pair[u].z);
        }
    }
    return sum[0] + sum[1];
}

/// Stands for `wide` and `triples`, which share a function: one each would cost registers.
inline constexpr auto rare_codes = static_cast<column_code>(5);

/// Returns a row of the product with the direction z + beta p. Sets `late` where a peer's pair is
/// not there yet.
template <column_code Code, class T>
__device__ T multiply_row(const persistent_arguments<T>& a, const near_pairs<T>& near,
                          slice_reader<T> slice, T beta, std::uint64_t epoch, bool& late) {
    if constexpr (Code != rare_codes)
        slice.code = Code; // the reader's own test disappears
    else if (slice.code != column_code::triples)
        slice.code = column_code::wide;
    T sum[2] = {};
    for (std::int32_t k = 0; k < slice.length; k += pairs_in_flight) {
        direction_pair<T> pair[pairs_in_flight];
#pragma unroll
        for (int u = 0; u < pairs_in_flight; ++u) {
            const std::int32_t column = k + u < slice.length ? slice.column(k + u) : -1;
            pair[u] = {};
            if (column >= 0 && !a.owns(column)) {
                const stamped_value* const from = a.ghost(column);
                const stamped_value z = load_stamped(from);
                const stamped_value p = load_stamped(from + 1);
                pair[u] = {static_cast<T>(z.value), static_cast<T>(p.value)};
                late = late || z.epoch != epoch || p.epoch != epoch;
            } else if (column >= 0) {
                pair[u] = near.get(a, column - a.matrix.first_owned);
            }
        }
#pragma unroll
        for (int u = 0; u < pairs_in_flight; ++u) // padding adds 0 * 0
            if (k + u < slice.length)
                sum[u % 2] += slice.value(k + u) * fma(beta, pair[u].p, pair[u].z);
    }
    return sum[0] + sum[1];
}

} // namespace krylith::cuda
