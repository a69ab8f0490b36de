#include <krylith/spmv/spmspv/rank_sweep.hpp>

#include <algorithm>

#include <krylith/device/cuda_device.cuh>
#include <krylith/device/posted_words.cuh>
#include <krylith/spmv/spmspv/frontier_scratch.hpp>
#include <krylith/vector/kernel_frame.cuh>

namespace krylith::cuda {

namespace {

using spmspv::frontier_scratch;

constexpr int sweep_threads = 1024;
constexpr int sweep_in_flight = 4;
constexpr int sums = 3;

/// By all threads: the sums over the block, known to thread 0.
__device__ inline void add_up(double (&sum)[sums]) {
    __shared__ double of_warps[sums][sweep_threads / 32];
    const auto over_warp = [&] {
#pragma unroll
        for (int by = 16; by > 0; by /= 2)
#pragma unroll
            for (double& s : sum) s += __shfl_xor_sync(0xffffffffu, s, by);
    };
    const unsigned lane = threadIdx.x & 31;
    over_warp();
#pragma unroll
    for (int v = 0; v < sums; ++v)
        if (lane == 0) of_warps[v][threadIdx.x / 32] = sum[v];
    __syncthreads();
    if (threadIdx.x < 32) {
#pragma unroll
        for (int v = 0; v < sums; ++v) sum[v] = of_warps[v][lane];
        over_warp();
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
    double sum[sums] = {};
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
            sum[0] += fabs(static_cast<double>(row[u].residual));
            sum[1] += sweep.gives(row[u]);
            sum[2] += static_cast<double>(row[u].rank);
        }
    }
    add_up(sum);
#pragma unroll
    for (int v = 0; v < sums; ++v)
        if (threadIdx.x == 0) scratch.partials[v * spmspv::frontier_blocks + blockIdx.x] = sum[v];
    if (!last_block(&scratch.totals->finished)) return;
#pragma unroll
    for (int v = 0; v < sums; ++v)
        sum[v] = threadIdx.x < gridDim.x
                     ? scratch.partials[v * spmspv::frontier_blocks + threadIdx.x]
                     : 0;
    add_up(sum);
    if (threadIdx.x != 0) return;
    scratch.totals->finished = 0;
    post(a.post, __double_as_longlong(sum[0]), __double_as_longlong(sum[1]),
         __double_as_longlong(sum[2]));
}

} // namespace

template <class T>
void sweep_ranks(device& where, const spmspv::rank_sweep<T>& sweep,
                 const spmspv::sweep_arguments<T>& a) {
    static_assert(spmspv::frontier_blocks <= sweep_threads && sums <= spmspv::frontier_sums);
    const launch_scope launch(where);
    const auto kernel = sweep_kernel<T>;
    const std::int64_t work = (a.rows + sweep_threads - 1) / sweep_threads;
    const unsigned blocks =
        std::min(spmspv::frontier_blocks, launch.blocks(kernel, sweep_threads, work));
    kernel<<<blocks, sweep_threads, 0, launch.stream()>>>(sweep, a,
                                                          frontier_scratch::in(a.scratch));
    launch.check_launch();
}

template void sweep_ranks(device&, const spmspv::rank_sweep<double>&,
                          const spmspv::sweep_arguments<double>&);
template void sweep_ranks(device&, const spmspv::rank_sweep<float>&,
                          const spmspv::sweep_arguments<float>&);

} // namespace krylith::cuda
