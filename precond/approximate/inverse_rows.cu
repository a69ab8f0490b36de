#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/approximate/inverse_rows.hpp>

namespace krylith::cuda {

namespace {

constexpr int inverse_threads = 128;

/// Line `p` of A(P, P), up to the diagonal, where ids are the global columns of P.
template <class T, int Lanes>
__device__ void take_line(const detail::rows_of_matrix<T>& a, std::int32_t local, int p,
                          const std::int32_t (&ids)[Lanes], T (&line)[Lanes + 1]) {
    int q = 0;
    const std::int64_t end = a.offsets[local + 1];
    for (std::int64_t k = a.offsets[local]; k < end; ++k) {
        const std::int32_t column = a.columns[k];
        while (q <= p && ids[q] < column) ++q;
        if (q > p) break;
        if (ids[q] == column) line[q] = a.values[k];
    }
}

/// A lane has a line of a row's system in registers; lines beyond the row are those of an identity.
/// Rows of more than Lanes / 2 and at most Lanes entries are its own; the fewest lanes take all
/// shorter rows too.
template <class T, int Lanes, bool LeastSquares>
__global__ void __launch_bounds__(inverse_threads)
    solve_kernel(const __grid_constant__ detail::inverse_rows<T> g, int least,
                 inversion_report* report) {
    constexpr int teams = inverse_threads / Lanes;
    __shared__ T tiles[teams][Lanes][Lanes + 1];
    __shared__ std::int32_t patterns[teams][Lanes];
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    const int team = static_cast<int>(threadIdx.x) / Lanes;
    T(&tile)[Lanes][Lanes + 1] = tiles[team];
    std::int32_t(&ids)[Lanes] = patterns[team];
    const std::int64_t stride = std::int64_t{gridDim.x} * teams;
    T largest = 0;
    for (std::int64_t before = std::int64_t{blockIdx.x} * teams; before < g.rows;
         before += stride) {
        const std::int64_t row = before + team;
        std::int64_t first = 0;
        int size = 0;
        bool here = false;
        if (row < g.rows) {
            first = g.offsets[row];
            const std::int64_t count = g.offsets[row + 1] - first;
            here = count >= least && count <= Lanes;
            size = here ? static_cast<int>(count) : 0;
        }
        std::int32_t local = 0;
        if (lane < size) {
            local = g.indices[first + lane];
            ids[lane] = g.columns.global(local);
        }
#pragma unroll
        for (int j = 0; j < Lanes; ++j) tile[lane][j] = lane == j && lane >= size ? T(1) : T(0);
        __syncwarp();
        T x = 0;
        if (lane < size) {
            if constexpr (LeastSquares) {
                for (int q = 0; q <= lane; ++q)
                    tile[lane][q] = detail::product_of_rows(g.a, local, g.indices[first + q]);
                const std::int32_t own = g.columns.below + static_cast<std::int32_t>(row);
                x = detail::entry_of_row(g.a, local, g.columns.global(own));
            } else {
                take_line<T, Lanes>(g.a, local, lane, ids, tile[lane]);
                x = lane + 1 == size ? T(1) : T(0);
            }
        }
        T a[Lanes];
#pragma unroll
        for (int j = 0; j < Lanes; ++j) a[j] = tile[lane][j];
        bool good = size > 0;
        const T bound = LeastSquares ? detail::dependent_rows<T> * tile[lane][lane] : T(0);
#pragma unroll
        for (int k = 0; k < Lanes; ++k) {
            const T pivot = __shfl_sync(all_lanes, a[k], k, Lanes);
            good = good && pivot > T(0);
            if constexpr (LeastSquares) {
                const T least = __shfl_sync(all_lanes, bound, k, Lanes); // by all lanes
                good = good && pivot > least;
            }
            const T inverse = T(1) / ::sqrt(pivot);
            const T mine = a[k] * inverse;
            a[k] = mine;
            const T known = __shfl_sync(all_lanes, x, k, Lanes) * inverse;
            x = lane == k ? known : lane > k ? x - mine * known : x;
#pragma unroll
            for (int j = k + 1; j < Lanes; ++j)
                a[j] -= mine * __shfl_sync(all_lanes, mine, j, Lanes);
        }
#pragma unroll
        for (int j = 0; j < Lanes; ++j) tile[lane][j] = a[j];
        __syncwarp();
#pragma unroll
        for (int i = Lanes - 1; i >= 0; --i) {
            const T known = __shfl_sync(all_lanes, x, i, Lanes) / tile[i][i];
            x = lane == i ? known : lane < i ? x - tile[i][lane] * known : x;
        }
        if constexpr (!LeastSquares) {
            const T of_row = __shfl_sync(all_lanes, x, size > 0 ? size - 1 : 0, Lanes);
            x *= T(1) / ::sqrt(of_row);
        }
        __syncwarp();
        if (lane < size) {
            if (!good || !isfinite(x))
                atomicMax(reinterpret_cast<atomic_word*>(&report->bad),
                          ~static_cast<atomic_word>(row));
            else
                largest = abs(x) > largest ? abs(x) : largest;
            g.values[first + lane] = x;
        } else if (here && size == 0 && lane == 0) {
            atomicMax(reinterpret_cast<atomic_word*>(&report->bad), ~static_cast<atomic_word>(row));
        }
    }
    largest = warp_reduce(largest, [](T own, T other) { return own > other ? own : other; });
    if (threadIdx.x % 32 == 0 && largest > T(0))
        atomicMax(reinterpret_cast<atomic_word*>(&report->exponent),
                  static_cast<atomic_word>(ilogb(largest) + inversion_report::exponent_bias));
}

template <class T, int Lanes>
void launch_solves(device& device, const detail::inverse_rows<T>& g, int least,
                   inversion_report* report) {
    constexpr int teams = inverse_threads / Lanes;
    const launch_scope launch(device);
    const auto enqueue = [&](auto kernel) {
        kernel<<<launch.blocks(kernel, inverse_threads, (g.rows + teams - 1) / teams),
                 inverse_threads, 0, launch.stream()>>>(g, least, report);
        launch.check_launch();
    };
    if (g.least_squares)
        enqueue(solve_kernel<T, Lanes, true>);
    else
        enqueue(solve_kernel<T, Lanes, false>);
}

} // namespace

template <class T>
void solve_inverse_rows(device& device, const detail::inverse_rows<T>& g,
                        inversion_report* report) {
    launch_solves<T, 4>(device, g, 0, report);
    if (g.longest > 4) launch_solves<T, 8>(device, g, 5, report);
    if (g.longest > 8) launch_solves<T, 16>(device, g, 9, report);
    if (g.longest > 16) launch_solves<T, 32>(device, g, 17, report);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void solve_inverse_rows(device&, const detail::inverse_rows<T>&, inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
