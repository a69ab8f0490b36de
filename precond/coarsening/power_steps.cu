#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/run_items.cuh>
#include <krylith/precond/coarsening/power_steps.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>

namespace krylith::cuda {

namespace {

constexpr int step_lanes = 8;

/// The sum of a row has the order of its lanes, on any number of devices. A lane loads Flight
/// entries at once, all that most rows have for it: a loop whose trips are few would wait for each.
template <int Flight, class W>
__global__ void __launch_bounds__(block_threads)
    multiply_kernel(device_csr_view<W> b, std::int64_t first_owned, const W* x, W* y) {
    const std::int64_t step = std::int64_t{gridDim.x} * (block_threads / step_lanes);
    std::int64_t row = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / step_lanes;
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
__global__ void __launch_bounds__(block_threads)
    largest_kernel(std::int64_t count, const W* x, std::uint64_t* largest) {
    double most = 0;
    for (std::int64_t i = first_item(); i < count; i += item_stride())
        most = max(most, fabs(static_cast<double>(x[i])));
    most = warp_reduce(most, [](double own, double other) { return max(own, other); });
    if (lane_number() == 0 && most > 0)
        atomicMax(reinterpret_cast<atomic_word*>(largest),
                  static_cast<atomic_word>(__double_as_longlong(most)));
}

} // namespace

template <class W>
void multiply_rows(device& on, const device_csr_view<W>& b, std::int64_t first_owned, const W* x,
                   W* y) {
    const bool longer = b.nonzeros > b.rows * 28; // the lengths of many rows are beyond 32
    launch_blocks(on, (b.rows * step_lanes + block_threads - 1) / block_threads,
                  longer ? multiply_kernel<8, W> : multiply_kernel<4, W>, b, first_owned, x, y);
}

template <class W>
void find_largest(device& on, std::int64_t count, const W* x, std::uint64_t* largest) {
    launch_over(on, count, largest_kernel<W>, count, x, largest);
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct instances<multiply_rows<W>, find_largest<W>>;                                  \
    template struct item_runs<detail::sign_task<W>, detail::scale_task<W>,                         \
                              detail::subtract_task<W>, detail::scale_column_task<W>,              \
                              detail::divide_task<W>, detail::round_task<W>>;

#include <krylith/device/language/instantiate.inc>
template struct item_runs<detail::convert_task<float, double>, detail::convert_task<double, float>>;

} // namespace krylith::cuda
