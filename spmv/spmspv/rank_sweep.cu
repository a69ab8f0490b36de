#include <krylith/spmv/spmspv/rank_sweep.hpp>

#include <algorithm>

#include <krylith/device/cuda_device.cuh>
#include <krylith/device/posted_words.cuh>
#include <krylith/spmv/spmspv/frontier_scratch.hpp>
#include <krylith/spmv/spmspv/grouped_rows.cuh>
#include <krylith/spmv/spmspv/semiring.hpp>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

namespace {

using spmspv::frontier_scratch;

constexpr int sweep_in_flight = 4;

/// A step's rows, and a thread's part of the three numbers that it posts.
template <class T>
struct swept_rows {
    static constexpr int blocks = sizeof(T) == 8 ? 4 : 5; // a multiprocessor
    static constexpr int sums = 3;
    using row_state = typename spmspv::rank_sweep<T>::row;

    spmspv::rank_sweep<T> sweep;
    spmspv::sweep_arguments<T> to;
    frontier_scratch scratch;
    spmspv::row_pieces pieces = {};
    double sum[sums] = {};

    [[nodiscard]] __device__ row_state read(std::int64_t i) const { return sweep.read(i); }

    __device__ void row(std::int64_t i, T got, row_state& at) {
        to.x[i] = sweep.update(i, at, got);
        // The grid's strides are multiples of 32 rows: nobody else has this word.
        if (i % 32 == 0) to.bits[i / 32] = to.rows - i < 32 ? (1U << (to.rows - i)) - 1 : ~0U;
        sum[0] += fabs(static_cast<double>(at.residual));
        sum[1] += sweep.gives(at);
        sum[2] += static_cast<double>(at.rank);
    }

    /// What these rows give to the sums is left where the piece had its own, since the order of
    /// sums must not depend on which warp comes here.
    __device__ void joined_row(bool valid, std::int64_t i, T got, row_state& at,
                               std::uint32_t piece) {
        double before[sums];
#pragma unroll
        for (int v = 0; v < sums; ++v) {
            before[v] = sum[v];
            sum[v] = 0;
        }
        if (valid) row(i, got, at);
#pragma unroll
        for (int v = 0; v < sums; ++v) {
            for (int by = 16; by > 0; by /= 2) sum[v] += __shfl_xor_sync(0xffffffffu, sum[v], by);
            if ((threadIdx.x & 31) == 0) of_piece(piece)[v] = sum[v];
            sum[v] = before[v];
        }
    }

    /// By all threads of all blocks: adds up and posts, if anybody wants it.
    __device__ void finish() {
        static_assert(sums <= spmspv::frontier_sums);
        if (to.post.posted == nullptr) return;
        __shared__ double warp_sums[block_warps];
#pragma unroll
        for (int v = 0; v < sums; ++v) {
            const double of_block = block_sum(sum[v], warp_sums);
            if (threadIdx.x == 0)
                scratch.partials[v * spmspv::frontier_partials + blockIdx.x] = of_block;
        }
        if (!last_block(&scratch.totals->finished)) return;
#pragma unroll
        for (int v = 0; v < sums; ++v) {
            double part = 0;
            for (unsigned b = threadIdx.x; b < gridDim.x; b += block_threads)
                part += __ldcg(scratch.partials + v * spmspv::frontier_partials + b);
#pragma unroll 4
            for (auto p = static_cast<std::int32_t>(threadIdx.x); p < pieces.count;
                 p += block_threads)
                if (pieces.list[p].part == 0)
                    part += __ldcg(of_piece(static_cast<unsigned>(p)) + v);
            sum[v] = block_sum(part, warp_sums);
        }
        if (threadIdx.x != 0) return;
        scratch.totals->finished = 0;
        post(to.post, __double_as_longlong(sum[0]), __double_as_longlong(sum[1]),
             __double_as_longlong(sum[2]));
    }

private:
    /// Its sums are 32 T, joined before.
    [[nodiscard]] __device__ double* of_piece(std::uint32_t piece) const {
        return reinterpret_cast<double*>(static_cast<T*>(pieces.sums) + std::size_t{32} * piece);
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    sweep_kernel(const __grid_constant__ swept_rows<T> given) {
    swept_rows<T> rows = given;
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         first < rows.to.rows; first += sweep_in_flight * stride) {
        typename swept_rows<T>::row_state state[sweep_in_flight];
        T got[sweep_in_flight];
#pragma unroll
        for (int u = 0; u < sweep_in_flight; ++u) {
            const std::int64_t i = first + u * stride;
            if (i >= rows.to.rows) continue;
            state[u] = rows.read(i);
            got[u] = rows.to.y != nullptr ? rows.to.y[i] : T(0);
        }
#pragma unroll
        for (int u = 0; u < sweep_in_flight; ++u) {
            const std::int64_t i = first + u * stride;
            if (i < rows.to.rows) rows.row(i, got[u], state[u]);
        }
    }
    rows.finish();
}

} // namespace

template <class T>
void sweep_ranks(device& where, const spmspv::rank_sweep<T>& sweep,
                 const spmspv::sweep_arguments<T>& a) {
    const launch_scope launch(where);
    const auto kernel = sweep_kernel<T>;
    const std::int64_t work = (a.rows + block_threads - 1) / block_threads;
    const unsigned blocks =
        std::min(spmspv::frontier_partials, launch.blocks(kernel, block_threads, work));
    kernel<<<blocks, block_threads, 0, launch.stream()>>>(
        {sweep, a, frontier_scratch::in(a.scratch)});
    launch.check_launch();
}

template <class T>
void multiply_and_sweep(device& where, const spmspv::compressed_lines<T>& rows,
                        const spmspv::row_pieces& pieces, const T* x,
                        const spmspv::rank_sweep<T>& sweep, const spmspv::sweep_arguments<T>& a) {
    using S = spmspv::plus_second<T>;
    plain_arguments<S> product = {};
    product.rows = rows;
    product.x.dense = const_cast<T*>(x); // arrays of vectors are written by others
    product.pieces = pieces;
    multiply_rows_into<S, false, true>(
        swept_rows<T>{sweep, a, frontier_scratch::in(a.scratch), pieces}, where, product,
        spmspv::frontier_partials);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void sweep_ranks(device&, const spmspv::rank_sweep<T>&,                               \
                              const spmspv::sweep_arguments<T>&);                                  \
    template void multiply_and_sweep(                                                              \
        device&, const spmspv::compressed_lines<T>&, const spmspv::row_pieces&, const T*,          \
        const spmspv::rank_sweep<T>&, const spmspv::sweep_arguments<T>&);
KRYLITH_INSTANTIATE(double)
KRYLITH_INSTANTIATE(float)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::cuda
