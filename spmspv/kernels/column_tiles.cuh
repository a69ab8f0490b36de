// The loops of column kernels over the columns of A where x has entries: a group of lanes for each
// entry, or equal tiles. A sink takes 4 terms of a thread at once, called by whole warps:
// take(there, place, row, term), where place is their place among all terms, in the order of x.
#pragma once

#include <cstdint>

#include <krylith/sparse/storage/load_once.cuh>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/kernels/semiring_result.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

inline constexpr int terms_at_once = static_cast<int>(spmspv::column_tile_items) / block_threads;

/// The operands of the product, and the places of the columns of the entries of x.
template <class S>
struct scatter_operands {
    using T = typename S::value_type;
    const std::int32_t* offsets; ///< offsets of the columns
    const std::int32_t* rows;
    const T* values;
    const std::int32_t* entries; ///< indices of x
    const T* x;
    const std::int32_t* count;  ///< entries of x
    T alpha;                    ///< plus_times: factor of each term
    const std::int32_t* ends;   ///< [entries] end of the terms of each among all, or null (direct)
    const std::int32_t* starts; ///< [entries] first place of its column (balanced)

    /// The number that terms of entry e have in common: x_e, or its index.
    [[nodiscard]] __device__ T operand(std::uint32_t e) const {
        if constexpr (spmspv::scales<S>) return alpha * x[e];
        if constexpr (!spmspv::scales<S> && S::reads_vector) return x[e];
        if constexpr (S::reads_columns) return entries[e];
        return T(0);
    }
    [[nodiscard]] __device__ T matrix_value(bool in, std::uint32_t entry) const {
        if constexpr (S::reads_matrix) return in ? load_once(values + entry) : T(0);
        return T(0);
    }
    [[nodiscard]] __device__ static T term(T value, T operand) {
        if constexpr (S::reads_columns) return S::term(T(0), T(0), operand);
        return S::term(value, operand, 0);
    }
    [[nodiscard]] __device__ std::uint32_t place_of(std::uint32_t e) const {
        return ends == nullptr || e == 0 ? 0 : static_cast<std::uint32_t>(ends[e - 1]);
    }
};

/// Gives the sink all terms, by `lanes` lanes for each entry; a long column stalls its warp.
template <class S, class Sink>
__device__ inline void for_terms_direct(const scatter_operands<S>& a, std::uint32_t lanes,
                                        Sink& sink) {
    using T = typename S::value_type;
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t per_warp = 32 / lanes;
    const auto count = static_cast<std::uint32_t>(*a.count);
    const std::uint32_t stride = gridDim.x * block_warps * per_warp;
    for (std::uint32_t first = (blockIdx.x * block_warps + threadIdx.x / 32) * per_warp;
         first < count; first += stride) {
        const std::uint32_t e = first + lane / lanes;
        // Numbers are unsigned: places may go up to 128 beyond the last of 2^31 - 1 entries.
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t place = 0;
        T operand{};
        if (e < count) {
            const std::int32_t column = a.entries[e];
            begin = static_cast<std::uint32_t>(a.offsets[column]);
            end = static_cast<std::uint32_t>(a.offsets[column + 1]);
            place = a.place_of(e);
            operand = a.operand(e);
        }
        std::uint32_t k = begin + lane % lanes;
        while (__any_sync(0xffffffffu, k < end)) {
            bool there[terms_at_once];
            std::uint32_t places[terms_at_once];
            std::int32_t row[terms_at_once];
            T term[terms_at_once];
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u) {
                const std::uint32_t from = k + static_cast<std::uint32_t>(u) * lanes;
                there[u] = from < end;
                places[u] = place + (from - begin);
                row[u] = there[u] ? load_once(a.rows + from) : 0;
                term[u] = a.matrix_value(there[u], from);
            }
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u) term[u] = a.term(term[u], operand);
            sink.take(there, places, row, term);
            if (k < end) k += terms_at_once * lanes;
        }
    }
    sink.finish();
}

/// The entries of x of a tile: those whose columns end in it, and the one that is open at its end.
template <class T>
struct tile_shared {
    std::uint32_t bounds[2]; ///< entries that end before the tile, and before its end
    std::uint32_t
        end[spmspv::column_tile_items + 1]; ///< the end of each entry, counted in terms of the tile
    std::uint32_t source[spmspv::column_tile_items +
                         1]; ///< plus the number of a term in the tile: its place in A
    T operand[spmspv::column_tile_items + 1];
};

/// The number of entries that end within the first `items` items of the path; a warp calls it, and
/// all its lanes get the number.
[[nodiscard]] __device__ inline std::uint32_t
entries_ended(const std::int32_t* ends, std::uint32_t count, std::uint32_t items) {
    spmspv::lane_search search{0, min(count, items)};
    while (!search.done()) {
        const std::uint32_t e = search.place(static_cast<int>(threadIdx.x & 31));
        const bool passed = e < search.high && spmspv::ends_before(ends, e, items);
        search = search.after(__popc(__ballot_sync(0xffffffffu, passed)));
    }
    return search.low;
}

/// Gives the sink all terms by tiles of 1024 entries of x and of A: no length of a column, nor any
/// number of empty ones, makes one tile larger than others.
template <class S, class Sink>
__device__ inline void for_terms_balanced(const scatter_operands<S>& a,
                                          tile_shared<typename S::value_type>& s, Sink& sink) {
    using T = typename S::value_type;
    const int me = static_cast<int>(threadIdx.x);
    const auto count = static_cast<std::uint32_t>(*a.count);
    const spmspv::column_tiles path{count == 0 ? 0 : count + a.place_of(count)};
    for (std::uint32_t tile = blockIdx.x; tile < path.count(); tile += gridDim.x) {
        const std::uint32_t begin = path.begin(tile);
        const std::uint32_t items = path.size(tile);
        if (me < 64) {
            const std::uint32_t bound =
                entries_ended(a.ends, count, me < 32 ? begin : begin + items);
            if (me % 32 == 0) s.bounds[me / 32] = bound;
        }
        __syncthreads();
        const std::uint32_t first = s.bounds[0];
        const auto ended = static_cast<int>(s.bounds[1] - first);
        const std::uint32_t before = begin - first; // terms before the tile
        const auto held = min(static_cast<std::uint32_t>(ended) + 1, count - first);
        for (std::uint32_t i = threadIdx.x; i < held; i += block_threads) {
            const std::uint32_t e = first + i;
            s.end[i] = static_cast<std::uint32_t>(a.ends[e]) - before;
            s.source[i] = static_cast<std::uint32_t>(a.starts[e]) + before - a.place_of(e);
            s.operand[i] = a.operand(e);
        }
        __syncthreads();
        const std::uint32_t terms = items - static_cast<std::uint32_t>(ended);
        bool there[terms_at_once];
        std::uint32_t places[terms_at_once];
        int entry[terms_at_once] = {};
        std::int32_t row[terms_at_once];
        T term[terms_at_once];
        for (int stride = spmspv::first_stride(ended); stride > 0; stride /= 2)
#pragma unroll
            for (int u = 0; u < terms_at_once; ++u)
                entry[u] = spmspv::pass_ends(s.end, ended, entry[u], stride,
                                             static_cast<std::uint32_t>(me + u * block_threads));
#pragma unroll
        for (int u = 0; u < terms_at_once; ++u) {
            const auto w = static_cast<std::uint32_t>(me + u * block_threads);
            there[u] = w < terms;
            places[u] = before + w;
            const std::uint32_t from = there[u] ? s.source[entry[u]] + w : 0;
            row[u] = there[u] ? load_once(a.rows + from) : 0;
            term[u] = a.matrix_value(there[u], from);
        }
#pragma unroll
        for (int u = 0; u < terms_at_once; ++u)
            term[u] = there[u] ? a.term(term[u], s.operand[entry[u]]) : S::absent();
        sink.take(there, places, row, term);
        __syncthreads();
    }
    sink.finish();
}

} // namespace krylith::cuda
