#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/coarsening/hashed_sign.hpp>
#include <krylith/precond/coarsening/power_steps.hpp>

namespace krylith::cuda {

namespace {

constexpr int step_threads = 256;
constexpr int step_lanes = 8;

/// The sum of a row has the order of its lanes, on any number of devices. A lane loads Flight
/// entries at once, all that most rows have for it: a loop whose trips are few would wait for each.
template <int Flight, class W>
__global__ void __launch_bounds__(step_threads)
    multiply_kernel(device_csr_view<W> b, std::int64_t first_owned, const W* x, W* y) {
    const std::int64_t step = std::int64_t{gridDim.x} * (step_threads / step_lanes);
    std::int64_t row = (std::int64_t{blockIdx.x} * step_threads + threadIdx.x) / step_lanes;
    const int lane = static_cast<int>(threadIdx.x) % step_lanes;
    const std::int64_t behind = lane_number() / step_lanes; // the warp's first row
    for (; row - behind < b.rows; row += step) {
        double sum = 0;
        const std::int64_t end = row < b.rows ? b.offsets[row + 1] : 0;
        for (std::int64_t k = row < b.rows ? b.offsets[row] + lane : 0; k < end;
             k += Flight * step_lanes) {
            W value[Flight];
            W other[Flight];
#pragma unroll
            for (int j = 0; j < Flight; ++j) {
                const bool there = k + j * step_lanes < end;
                const std::int64_t at = there ? k + j * step_lanes : k;
                value[j] = there ? b.values[at] : W(0);
                other[j] = x[b.indices[at]];
            }
#pragma unroll
            for (int j = 0; j < Flight; ++j)
                sum += static_cast<double>(value[j]) * static_cast<double>(other[j]);
        }
        sum = warp_sum<step_lanes>(sum);
        if (row < b.rows && lane == 0) y[first_owned + row] = static_cast<W>(sum);
    }
}

template <class W>
__global__ void __launch_bounds__(step_threads)
    sign_kernel(std::int64_t first, std::int64_t count, W* x) {
    const std::int64_t stride = std::int64_t{gridDim.x} * step_threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * step_threads + threadIdx.x; i < count;
         i += stride)
        x[i] = detail::hashed_sign<W>(first + i);
}

template <class W>
__global__ void __launch_bounds__(step_threads)
    largest_kernel(std::int64_t count, const W* x, std::uint64_t* largest) {
    const std::int64_t stride = std::int64_t{gridDim.x} * step_threads;
    double most = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * step_threads + threadIdx.x; i < count;
         i += stride)
        most = max(most, fabs(static_cast<double>(x[i])));
    most = warp_reduce(most, [](double own, double other) { return max(own, other); });
    if (lane_number() == 0 && most > 0)
        atomicMax(reinterpret_cast<atomic_word*>(largest),
                  static_cast<atomic_word>(__double_as_longlong(most)));
}

template <class W>
__global__ void __launch_bounds__(step_threads)
    scale_by_kernel(std::int64_t count, double factor, W* x) {
    const std::int64_t stride = std::int64_t{gridDim.x} * step_threads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * step_threads + threadIdx.x; i < count;
         i += stride)
        x[i] = static_cast<W>(factor * static_cast<double>(x[i]));
}

/// Launches a kernel for so many items, of which a block takes `of_block`.
template <class Kernel, class... Arguments>
void launch_for(device& on, std::int64_t items, int of_block, Kernel kernel,
                const Arguments&... arguments) {
    if (items == 0) return;
    const launch_scope launch(on);
    kernel<<<launch.blocks(kernel, step_threads, (items + of_block - 1) / of_block), step_threads,
             0, launch.stream()>>>(arguments...);
    launch.check_launch();
}

} // namespace

template <class W>
void multiply_rows(device& on, const device_csr_view<W>& b, std::int64_t first_owned, const W* x,
                   W* y) {
    const bool longer = b.nonzeros > b.rows * 28; // the lengths of many rows are beyond 32
    launch_for(on, b.rows, step_threads / step_lanes,
               longer ? multiply_kernel<8, W> : multiply_kernel<4, W>, b, first_owned, x, y);
}

template <class W>
void hashed_signs(device& on, std::int64_t first, std::int64_t count, W* x) {
    launch_for(on, count, step_threads, sign_kernel<W>, first, count, x);
}

template <class W>
void find_largest(device& on, std::int64_t count, const W* x, std::uint64_t* largest) {
    launch_for(on, count, step_threads, largest_kernel<W>, count, x, largest);
}

template <class W>
void scale_by(device& on, std::int64_t count, double factor, W* x) {
    launch_for(on, count, step_threads, scale_by_kernel<W>, count, factor, x);
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template void multiply_rows(device&, const device_csr_view<W>&, std::int64_t, const W*, W*);   \
    template void hashed_signs(device&, std::int64_t, std::int64_t, W*);                           \
    template void find_largest(device&, std::int64_t, const W*, std::uint64_t*);                   \
    template void scale_by(device&, std::int64_t, double, W*);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
