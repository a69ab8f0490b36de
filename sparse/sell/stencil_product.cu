#include <krylith/sparse/sell/stencil_product.hpp>

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/sell/stencil_kernel.cuh>

namespace krylith::cuda {

template <class T>
bool takes_lane_rows(const spmv_arguments<T>& a, std::int64_t first_owned) {
    if (a.put.targets != nullptr || a.map.count != 0) return false;
    std::uintptr_t all =
        reinterpret_cast<std::uintptr_t>(a.x + first_owned) | reinterpret_cast<std::uintptr_t>(a.y);
    for (const T* with : a.dot_with) all |= reinterpret_cast<std::uintptr_t>(with);
    for (int k = 0; k < a.put.channel.receivers; ++k)
        all |= reinterpret_cast<std::uintptr_t>(a.put.copies[k]);
    return (all & 15) == 0;
}

namespace {

template <class T, stencil_shape Shape>
void launch_stencil(device& device, const spmv_arguments<T>& a, const sell_view<T>& m) {
    launch_rows(device, a, (m.groups + lane_rows<T> - 1) / lane_rows<T>, m,
                [](auto dots, auto shared) { return stencil_kernel<T, dots(), shared(), Shape>; });
}

} // namespace

template <class T>
void apply_stencil(device& device, const spmv_arguments<T>& a, const sell_view<T>& m,
                   stencil_shape shape) {
    switch (shape) {
    case stencil_shape::five_points:
        return launch_stencil<T, stencil_shape::five_points>(device, a, m);
    case stencil_shape::seven_points:
        return launch_stencil<T, stencil_shape::seven_points>(device, a, m);
    case stencil_shape::nine_points:
        return launch_stencil<T, stencil_shape::nine_points>(device, a, m);
    default: return launch_stencil<T, stencil_shape::twenty_seven_points>(device, a, m);
    }
}

#define KRYLITH_INSTANTIATE(T) template struct instances<takes_lane_rows<T>, apply_stencil<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
