// Terms of a semiring for products by merge path (merge_tile.cuh): of a dense x, or of one whose
// bits say where it has entries. Then bits of y are set too: a row has an entry if it has a term,
// whatever the sum is.
#pragma once

#include <cstdint>

#include <krylith/spmv/merge_tile.cuh>
#include <krylith/spmv/spmspv/kernel_arithmetic.hpp>
#include <krylith/spmv/spmspv/row_terms.cuh>

namespace krylith::cuda {

/// Bits of a tile.
struct tile_marks {
    static constexpr int words = merge_tile_items / 32 + 2;
    std::uint32_t terms[words]; ///< entries of the tile that have a term
    std::uint32_t rows[words];  ///< rows from the one that is open at its begin, that have one
};

template <class S, bool Masked>
struct merge_terms {
    using T = typename S::value_type;
    static constexpr bool loads_values = S::reads_matrix && !Masked;
    static constexpr bool marks = Masked;

    row_terms<S, Masked> of;
    tile_marks* shared;
    std::uint32_t* y_bits; ///< 0 before the product
    const std::uint32_t* skip_rows;
    std::uint64_t window = 0; ///< of the thread: marks of its entries
    bool seen = false;        ///< a term in the row that it is in

    [[nodiscard]] __device__ static T none() { return S::absent(); }
    [[nodiscard]] __device__ static T add(T a, T b) { return S::add(a, b); }

    __device__ void fill(const merge_view<T, std::int32_t>&,
                         const merge_loads<T, std::int32_t>& loads, std::int64_t first, T* slot) {
        constexpr int in_flight = merge_loads<T, std::int32_t>::in_flight;
        const int me = static_cast<int>(threadIdx.x);
        bool there[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            there[u] = of.has(loads.column[u] >= 0, loads.column[u]);
        constexpr int at_once = 4; // as many values and x of each as there are registers for
#pragma unroll
        for (int base = 0; base < in_flight; base += at_once) {
            T a[at_once];
            T b[at_once];
#pragma unroll
            for (int v = 0; v < at_once; ++v) {
                const int u = base + v;
                if (u >= in_flight) break;
                const auto entry = static_cast<std::uint32_t>(first + me + u * block_threads);
                if constexpr (loads_values)
                    a[v] = loads.value[u];
                else
                    a[v] = of.matrix_value(there[u], entry);
                b[v] = of.vector_value(there[u], loads.column[u]);
            }
#pragma unroll
            for (int v = 0; v < at_once; ++v) {
                const int u = base + v;
                if (u >= in_flight) break;
                if (loads.column[u] >= 0)
                    slot[me + u * block_threads] =
                        there[u] ? S::term(a[v], b[v], loads.column[u]) : S::absent();
            }
        }
        if constexpr (marks) {
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const std::uint32_t word = __ballot_sync(0xffffffffu, there[u]);
                if (me % 32 == 0) shared->terms[u * block_warps + me / 32] = word;
            }
            if (me < tile_marks::words) shared->rows[me] = 0;
            if (me < 2) shared->terms[tile_marks::words - 2 + me] = 0;
        }
    }

    /// The thread's first entry of the tile: at most merge_tile_items.
    __device__ void at_entry(int k) {
        const std::uint64_t low = shared->terms[k / 32];
        const std::uint64_t high = shared->terms[k / 32 + 1];
        window = (high << 32 | low) >> (k % 32);
        seen = false;
    }
    __device__ void take_entry() {
        seen = seen || (window & 1) != 0;
        window >>= 1;
    }
    __device__ void end_row(int row) {
        if (seen) atomicOr(shared->rows + row / 32, 1u << row % 32);
        seen = false;
    }
    /// By the block, after a barrier: the tile's rows, `ended` of them and the open one, from
    /// row0. Words at its ends belong to other blocks too.
    __device__ void write_marks(std::int32_t row0, int ended) const {
        const int shift = row0 % 32;
        const int words = (shift + ended + 32) / 32;
        for (int w = static_cast<int>(threadIdx.x); w < words; w += block_threads) {
            const std::uint64_t high = shared->rows[w];
            const std::uint64_t low = w > 0 ? shared->rows[w - 1] : 0;
            auto rows = static_cast<std::uint32_t>((high << 32 | low) >> (32 - shift));
            const std::int32_t place = row0 / 32 + w;
            if (rows != 0 && skip_rows != nullptr) rows &= ~skip_rows[place];
            if (rows != 0) atomicOr(y_bits + place, rows);
        }
    }
};

} // namespace krylith::cuda
