// Sums of terms that are sorted by row, each in a fixed order: as ascending pairs, or into a dense
// array.
//
// Tiles have 2048 terms, 8 for each thread; a block takes consecutive tiles (a chunk) and carries
// the sum of the row that is open; the last block joins the rows that are open at the ends of
// chunks (sparse/merge/merge_tile.cuh). So no row stalls a block, and the bits depend on the number
// of terms and the device alone. The host knows the division, since it knows the number of terms.
//
// Bytes: 4 + s a term, 4 + s a row; for pairs 4 a term before, to count the rows of each chunk. One
// launch, or two for pairs of more than 2048 terms.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/merge/merge_tile.cuh>
#include <krylith/spmspv/kernels/column_scratch.hpp>
#include <krylith/spmspv/kernels/product_launches.hpp>
#include <krylith/spmspv/kernels/semiring_result.cuh>

namespace krylith::cuda {

inline constexpr int sum_in_flight = static_cast<int>(sum_tile_terms) / block_threads;

template <class T>
struct sorted_terms {
    const std::uint32_t* rows; ///< ascending; those from `rows_below` on don't count
    const T* values;
    std::uint32_t count;
    std::uint32_t rows_below;
    std::uint32_t terms_a_chunk;
    std::int32_t chunks;
    std::int32_t* ended; ///< [chunks] rows that end there
    chunk_edges<T> edges;
    unsigned* finished;

    [[nodiscard]] __device__ std::uint32_t chunk_end(std::uint32_t begin) const {
        return count - begin < terms_a_chunk ? count : begin + terms_a_chunk;
    }
    /// Loads the terms of a thread from `first` on. Bit u of the result: term first + u is the last
    /// of its row.
    __device__ unsigned load_rows(std::uint32_t first, std::uint32_t (&row)[sum_in_flight]) const {
        const auto at = [&](std::uint32_t k) { return k < count ? rows[k] : ~0u; };
        unsigned ends = 0;
        std::uint32_t next = 0;
        if (count >= sum_in_flight && first <= count - sum_in_flight) { // aligned: multiples of 8
            const auto* const four = reinterpret_cast<const uint4*>(rows + first);
            const uint4 a = four[0];
            const uint4 b = four[1];
            const std::uint32_t all[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
            for (int u = 0; u < sum_in_flight; ++u) row[u] = all[u];
        } else {
#pragma unroll
            for (int u = 0; u < sum_in_flight; ++u)
                row[u] = at(first + static_cast<std::uint32_t>(u));
        }
        next = at(first + sum_in_flight);
#pragma unroll
        for (int u = 0; u < sum_in_flight; ++u) {
            const std::uint32_t after = u + 1 < sum_in_flight ? row[(u + 1) % sum_in_flight] : next;
            if (row[u] < rows_below && row[u] != after) ends |= 1u << u;
        }
        return ends;
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    count_sorted_rows(const __grid_constant__ sorted_terms<T> terms) {
    const std::uint32_t begin = blockIdx.x * terms.terms_a_chunk;
    const std::uint32_t end = terms.chunk_end(begin);
    std::int32_t ended = 0;
    for (std::uint32_t first = begin + threadIdx.x * sum_in_flight; first < end;
         first += static_cast<std::uint32_t>(sum_tile_terms)) {
        std::uint32_t row[sum_in_flight];
        ended += __popc(terms.load_rows(first, row));
    }
    ended = sum_of_block(ended);
    if (threadIdx.x == 0) terms.ended[blockIdx.x] = ended;
}

/// The target of the sums: place p of the pairs, or row p of a dense array.
template <class S, bool Pairs>
struct sorted_results {
    using T = typename S::value_type;
    spmspv::vector_arrays<T> y;
    T alpha;
    bool adds; ///< adds to the values that y has

    __device__ void before_writing() const {}
    __device__ void row(std::int64_t place, T sum) const {
        T result = sum;
        if constexpr (spmspv::scales<S>) {
            result = alpha * sum;
            if (!Pairs && adds) result += y.dense[place];
        }
        (Pairs ? y.values : y.dense)[place] = result;
    }
};

template <class S>
struct semiring_sums {
    using T = typename S::value_type;
    [[nodiscard]] __device__ static T none() { return S::absent(); }
    [[nodiscard]] __device__ static T add(T a, T b) { return S::add(a, b); }
};

/// Sums up chunks, one for each block.
template <class S, bool Pairs>
__global__ void __launch_bounds__(block_threads, 4)
    sum_sorted(const __grid_constant__ sorted_terms<typename S::value_type> terms,
               const __grid_constant__ sorted_results<S, Pairs> results) {
    using T = typename S::value_type;
    using sums = semiring_sums<S>;
    __shared__ carry_shared<T> s;
    __shared__ std::int32_t warp_ends[block_warps];
    const int me = static_cast<int>(threadIdx.x);
    const std::uint32_t begin = blockIdx.x * terms.terms_a_chunk;
    const std::uint32_t end = terms.chunk_end(begin);
    std::int32_t base = 0; // rows that end in earlier chunks
    if (Pairs && gridDim.x > 1) {
        for (unsigned c = threadIdx.x; c < blockIdx.x; c += block_threads) base += terms.ended[c];
        base = sum_of_block(base);
    }
    const bool began_before = begin > 0 && terms.rows[begin - 1] == terms.rows[begin];
    T carry = S::absent();
    std::int32_t ended = 0; // rows in this chunk
    for (std::uint32_t tile = begin; tile < end;
         tile += static_cast<std::uint32_t>(sum_tile_terms)) {
        const std::uint32_t first = tile + static_cast<std::uint32_t>(me) * sum_in_flight;
        std::uint32_t row[sum_in_flight];
        T value[sum_in_flight];
        unsigned ends = terms.load_rows(first, row);
#pragma unroll
        for (int u = 0; u < sum_in_flight; ++u) {
            const std::uint32_t k = first + static_cast<std::uint32_t>(u);
            value[u] = k < terms.count ? terms.values[k] : S::absent();
        }
        T tail = S::absent();
#pragma unroll
        for (int u = 0; u < sum_in_flight; ++u) {
            tail = S::add(tail, value[u]);
            if ((ends >> u & 1) != 0) tail = S::absent();
        }
        const std::int32_t mine = __popc(ends);
        const std::int32_t so_far = warp_running_sum(mine);
        if (me % 32 == 31) warp_ends[me / 32] = so_far;
        T sum = carry_into<sums>(tail, ends != 0, carry, carry, s); // has a barrier
        std::int32_t number = ended + so_far - mine;                // its number in the chunk
#pragma unroll
        for (int w = 0; w < block_warps; ++w) {
            if (w < me / 32) number += warp_ends[w];
            ended += warp_ends[w];
        }
#pragma unroll
        for (int u = 0; u < sum_in_flight; ++u) {
            sum = S::add(sum, value[u]);
            if ((ends >> u & 1) == 0) continue;
            const std::int32_t place = Pairs ? base + number : static_cast<std::int32_t>(row[u]);
            if (Pairs) results.y.indices[place] = static_cast<std::int32_t>(row[u]);
            if (number == 0 && began_before) {
                terms.edges.heads[blockIdx.x] = sum;
                terms.edges.rows[blockIdx.x] = place;
            } else {
                results.row(place, sum);
            }
            ++number;
            sum = S::absent();
        }
        __syncthreads();
    }
    if (me == 0) {
        terms.edges.carries[blockIdx.x] = carry;
        if (ended == 0) terms.edges.rows[blockIdx.x] = none_ended;
        if (ended != 0 && !began_before) terms.edges.rows[blockIdx.x] = began_here;
        if (Pairs && blockIdx.x == gridDim.x - 1) *results.y.count = base + ended;
    }
    if (gridDim.x < 2 || !last_block(terms.finished)) return;
    join_chunks<sums>(terms.edges, terms.chunks, s, results);
}

/// Enqueues the sums. `sorted` is the place of the sorted terms. `finished` of the scratch is 0.
template <class S, bool Pairs>
void launch_sums(device& device, const plain_arguments<S>& a,
                 const column_scratch<typename S::value_type>& scratch, int sorted) {
    using T = typename S::value_type;
    if (a.frontier_nonzeros == 0) {
        if (Pairs) device.zero(a.y.count, sizeof(std::int32_t));
        return;
    }
    const launch_scope launch(device);
    const auto kernel = sum_sorted<S, Pairs>;
    const std::int64_t tiles = sum_tiles(a.frontier_nonzeros);
    const std::int64_t blocks =
        std::min<std::int64_t>(most_sum_chunks, launch.blocks(kernel, block_threads, tiles));
    const std::int64_t tiles_a_chunk = (tiles + blocks - 1) / blocks;
    const std::int64_t chunks = (tiles + tiles_a_chunk - 1) / tiles_a_chunk;
    const sorted_terms<T> terms{scratch.terms.keys[sorted],
                                static_cast<const T*>(scratch.terms.values[sorted]),
                                static_cast<std::uint32_t>(a.frontier_nonzeros),
                                static_cast<std::uint32_t>(a.rows.major_size),
                                static_cast<std::uint32_t>(tiles_a_chunk * sum_tile_terms),
                                static_cast<std::int32_t>(chunks),
                                scratch.ended,
                                scratch.edges,
                                reinterpret_cast<unsigned*>(scratch.finished)};
    if (Pairs && chunks > 1)
        count_sorted_rows<<<static_cast<unsigned>(chunks), block_threads, 0, launch.stream()>>>(
            terms);
    kernel<<<static_cast<unsigned>(chunks), block_threads, 0, launch.stream()>>>(
        terms, {a.y, a.alpha, a.beta != T(0)});
    launch.check_launch();
}

} // namespace krylith::cuda
