#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/blocks/invert_blocks.hpp>

namespace krylith::cuda {

namespace {

constexpr int inversion_threads = 128;
constexpr int small_block = 8;

template <class V>
__device__ V of_lane(V value, int lane, int lanes) {
    return __shfl_sync(all_lanes, value, lane, lanes);
}

/// The lane with the largest key, which is not negative, among `Lanes`; the lowest one of several.
template <class T, int Lanes>
__device__ int lane_of_largest(T key, int lane) {
    int best = lane;
#pragma unroll
    for (int by = Lanes / 2; by > 0; by /= 2) {
        const T other = __shfl_xor_sync(all_lanes, key, by, Lanes);
        const int from = __shfl_xor_sync(all_lanes, best, by, Lanes);
        if (other > key || (other == key && from < best)) {
            key = other;
            best = from;
        }
    }
    return best;
}

/// A lane has a row of the block in registers; rows beyond the block are those of an identity. No
/// rows are exchanged: each lane remembers of which column it has been the pivot.
template <class T, int Lanes>
__global__ void __launch_bounds__(inversion_threads)
    invert_block_kernel(const __grid_constant__ detail::block_list list,
                        const __grid_constant__ detail::block_view<T> blocks,
                        inversion_report* report) {
    constexpr int teams = inversion_threads / Lanes;
    __shared__ T tiles[teams][Lanes][Lanes + 1];
    __shared__ int pivots[teams][Lanes];
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    const int team = static_cast<int>(threadIdx.x) / Lanes;
    T(&tile)[Lanes][Lanes + 1] = tiles[team];
    const std::int64_t stride = std::int64_t{gridDim.x} * teams;
    T largest = 0;
    for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < list.count;
         first += stride) {
        const std::int64_t number = first + team;
        std::int64_t row = 0;
        int size = 0;
        if (number < list.count) {
            row = list.first[number];
            size = blocks.places[row].size;
            if (size > Lanes || (Lanes > small_block && size <= small_block)) size = 0;
        }
        T a[Lanes];
        bool good = true;
#pragma unroll
        for (int j = 0; j < Lanes; ++j) {
            a[j] = lane == j ? T(1) : T(0);
            if (lane < size && j < size) a[j] = blocks.at(row + lane, j);
            good = good && isfinite(a[j]);
            tile[lane][j] = a[j];
        }
        __syncwarp();
        bool mirrored = true;
#pragma unroll
        for (int j = 0; j < Lanes; ++j) mirrored = mirrored && tile[j][lane] == a[j];
        const unsigned of_team = (Lanes == 32 ? all_lanes : (1u << (Lanes % 32)) - 1)
                                 << (team * Lanes % 32);
        const bool symmetric = (__ballot_sync(all_lanes, mirrored) & of_team) == of_team;
        __syncwarp();

        int column = -1; // of which this lane was the pivot
#pragma unroll
        for (int k = 0; k < Lanes; ++k) {
            const T key = column < 0 && abs(a[k]) > T(0) ? abs(a[k]) : column < 0 ? T(0) : T(-1);
            const int pivot = lane_of_largest<T, Lanes>(key, lane);
            const T value = of_lane(a[k], pivot, Lanes);
            good = good && abs(value) > T(0);
            const T inverse = T(1) / value;
            const T factor = a[k];
            if (lane == pivot) {
                column = k;
                a[k] = T(1);
                pivots[team][k] = pivot;
            } else {
                a[k] = T(0);
            }
#pragma unroll
            for (int j = 0; j < Lanes; ++j) {
                const T scaled = of_lane(a[j], pivot, Lanes) * inverse;
                a[j] = lane == pivot ? scaled : a[j] - factor * scaled;
            }
        }
        __syncwarp();
        if (column >= 0) {
#pragma unroll
            for (int j = 0; j < Lanes; ++j) tile[column][pivots[team][j]] = a[j];
        }
        __syncwarp();
        for (int j = 0; j < size && lane < size; ++j) {
            const T x = symmetric ? (tile[lane][j] + tile[j][lane]) / T(2) : tile[lane][j];
            good = good && isfinite(x);
            largest = abs(x) > largest && isfinite(x) ? abs(x) : largest;
            blocks.at(row + lane, j) = x;
        }
        __syncwarp();
        if (lane < size && !good)
            atomicMax(reinterpret_cast<atomic_word*>(&report->bad),
                      ~static_cast<atomic_word>(number));
    }
    largest = warp_reduce(largest, [](T own, T other) { return own > other ? own : other; });
    if (threadIdx.x % 32 == 0 && largest > T(0))
        atomicMax(reinterpret_cast<atomic_word*>(&report->exponent),
                  static_cast<atomic_word>(ilogb(largest) + inversion_report::exponent_bias));
}

template <class T, int Lanes>
void launch_inversion(device& device, const detail::block_list& list,
                      const detail::block_view<T>& blocks, inversion_report* report) {
    constexpr int teams = inversion_threads / Lanes;
    const launch_scope launch(device);
    const auto kernel = invert_block_kernel<T, Lanes>;
    kernel<<<launch.blocks(kernel, inversion_threads, (list.count + teams - 1) / teams),
             inversion_threads, 0, launch.stream()>>>(list, blocks, report);
    launch.check_launch();
}

} // namespace

template <class T>
void invert_blocks(device& device, const detail::block_list& list,
                   const detail::block_view<T>& blocks, inversion_report* report) {
    launch_inversion<T, small_block>(device, list, blocks, report);
    if (list.largest > small_block)
        launch_inversion<T, detail::largest_block>(device, list, blocks, report);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void invert_blocks(device&, const detail::block_list&, const detail::block_view<T>&,  \
                                inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
