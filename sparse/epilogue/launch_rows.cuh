// The launch of a product kernel that ends in a row_epilogue.
#pragma once

#include <cstdint>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/epilogue/row_epilogue.cuh>

namespace krylith::cuda {

/// Calls launch(dots) with the number of dot products of the product as a constant.
template <class T, class Launch>
void dispatch_dots(const spmv_operands<T>& a, Launch launch) {
    switch (a.reduce.count) {
    case 0: return launch(std::integral_constant<int, 0>{});
    case 1: return launch(std::integral_constant<int, 1>{});
    default: return launch(std::integral_constant<int, 2>{});
    }
}

/// Enqueues the kernel that kernel_of(dots) returns, with a view of the matrix as its last
/// argument, in as many blocks as `groups` of rows can use.
template <class T, class View, class KernelOf>
void launch_rows(device& device, const spmv_arguments<T>& a, std::int64_t groups, const View& view,
                 KernelOf kernel_of) {
    const launch_scope launch(device);
    dispatch_dots(a, [&](auto dots) {
        const auto kernel = kernel_of(dots);
        kernel<<<launch.blocks(kernel, block_threads, groups), block_threads, 0, launch.stream()>>>(
            compact(a.common), a, view);
    });
    launch.check_launch();
}

} // namespace krylith::cuda
