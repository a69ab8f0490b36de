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

/// Whether peers have parts of its rows, or it of theirs (nonzero_split_operator.hpp).
template <class T>
[[nodiscard]] bool shares_rows(const spmv_operands<T>& a) {
    return a.partials.count != 0 || a.early.count != 0 || a.put.targets != nullptr;
}

/// Enqueues the kernel that kernel_of(dots, shared) returns, with a view of the matrix as its last
/// argument, in as many blocks as `groups` of rows can use.
template <class T, class View, class KernelOf>
void launch_rows(device& device, const spmv_arguments<T>& a, std::int64_t groups, const View& view,
                 KernelOf kernel_of) {
    const launch_scope launch(device);
    const auto enqueue = [&](auto kernel) {
        kernel<<<launch.blocks(kernel, block_threads, groups), block_threads, 0, launch.stream()>>>(
            compact(a.common), a, view);
    };
    dispatch_dots(a, [&](auto dots) {
        if (shares_rows(a)) return enqueue(kernel_of(dots, std::true_type{}));
        enqueue(kernel_of(dots, std::false_type{}));
    });
    launch.check_launch();
}

} // namespace krylith::cuda
