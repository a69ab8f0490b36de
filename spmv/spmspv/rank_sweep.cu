#include <krylith/spmv/spmspv/rank_sweep.hpp>

#include <algorithm>

#include <krylith/device/cuda_device.cuh>
#include <krylith/device/posted_words.cuh>
#include <krylith/spmv/spmspv/frontier_scratch.hpp>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

namespace {

using spmspv::frontier_scratch;

/// Sums of the blocks: residuals, then ranks.
constexpr unsigned sweep_blocks = spmspv::frontier_blocks / 2;
constexpr int sweep_threads = 1024;
constexpr int sweep_in_flight = 4;

/// By all threads: the sums over the block, known to thread 0.
__device__ inline void add_up(double& residual, double& rank) {
    __shared__ double sums[2][sweep_threads / 32];
    for (int by = 16; by > 0; by /= 2) {
        residual += __shfl_xor_sync(0xffffffffu, residual, by);
        rank += __shfl_xor_sync(0xffffffffu, rank, by);
    }
    const unsigned lane = threadIdx.x & 31;
    if (lane == 0) {
        sums[0][threadIdx.x / 32] = residual;
        sums[1][threadIdx.x / 32] = rank;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        residual = sums[0][lane];
        rank = sums[1][lane];
        for (int by = 16; by > 0; by /= 2) {
            residual += __shfl_xor_sync(0xffffffffu, residual, by);
            rank += __shfl_xor_sync(0xffffffffu, rank, by);
        }
    }
    __syncthreads();
}

/// The grid's stride is a multiple of 32: a warp has whole words of bits.
template <class T>
__global__ void __launch_bounds__(sweep_threads)
    sweep_kernel(const __grid_constant__ spmspv::rank_sweep<T> sweep,
                 const __grid_constant__ spmspv::sweep_arguments<T> a,
                 const frontier_scratch scratch) {
    const std::int64_t stride = std::int64_t{gridDim.x} * sweep_threads;
    double residual = 0;
    double rank = 0;
    for (std::int64_t first = std::int64_t{blockIdx.x} * sweep_threads + threadIdx.x;
         first - (threadIdx.x & 31) < a.rows; first += sweep_in_flight * stride) {
        typename spmspv::rank_sweep<T>::row row[sweep_in_flight];
        T got[sweep_in_flight];
#pragma unroll
        for (int u = 0; u < sweep_in_flight; ++u) {
            const std::int64_t i = first + u * stride;
            if (i >= a.rows) continue;
            row[u] = sweep.read(i);
            got[u] = a.y != nullptr ? a.y[i] : T(0);
        }
#pragma unroll
        for (int u = 0; u < sweep_in_flight; ++u) {
            const std::int64_t i = first + u * stride;
            const unsigned there = __ballot_sync(0xffffffffu, i < a.rows);
            if (i >= a.rows) continue;
            a.x[i] = sweep.update(i, row[u], got[u]);
            if ((threadIdx.x & 31) == 0) a.bits[i / 32] = there;
            residual += fabs(static_cast<double>(row[u].residual));
            rank += static_cast<double>(row[u].rank);
        }
    }
    add_up(residual, rank);
    if (threadIdx.x == 0) {
        scratch.partials[blockIdx.x] = residual;
        scratch.partials[sweep_blocks + blockIdx.x] = rank;
    }
    if (!last_block(&scratch.totals->finished)) return;
    residual = rank = 0;
    if (threadIdx.x < gridDim.x) {
        residual = scratch.partials[threadIdx.x];
        rank = scratch.partials[sweep_blocks + threadIdx.x];
    }
    add_up(residual, rank);
    if (threadIdx.x != 0) return;
    scratch.totals->finished = 0;
    post(a.post, __double_as_longlong(residual), __double_as_longlong(rank));
}

} // namespace

template <class T>
void sweep_ranks(device& where, const spmspv::rank_sweep<T>& sweep,
                 const spmspv::sweep_arguments<T>& a) {
    static_assert(sweep_blocks <= sweep_threads);
    const launch_scope launch(where);
    const auto kernel = sweep_kernel<T>;
    const std::int64_t work = (a.rows + sweep_threads - 1) / sweep_threads;
    const unsigned blocks = std::min(sweep_blocks, launch.blocks(kernel, sweep_threads, work));
    kernel<<<blocks, sweep_threads, 0, launch.stream()>>>(sweep, a,
                                                          frontier_scratch::in(a.scratch));
    launch.check_launch();
}

template void sweep_ranks(device&, const spmspv::rank_sweep<double>&,
                          const spmspv::sweep_arguments<double>&);
template void sweep_ranks(device&, const spmspv::rank_sweep<float>&,
                          const spmspv::sweep_arguments<float>&);

} // namespace krylith::cuda
