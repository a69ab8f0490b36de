// Conversions between the forms of a sparse vector. Kernels that go through pairs read their count
// on the device: grids are sized by n and loop.
//
// Bytes for k entries of n, values of s bytes: scatter 4 k + 2 s k (values), 4 k + 8 k atomics
// (bits); fill n s; gather 4 k + 2 s k; bits of dense n s + n / 8. Each is one launch, 2 to 3 us
// where k is small. Scattered stores and loads move whole sectors: 32 bytes for each entry.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/spmspv/kernels/vector_conversion.hpp>
#include <krylith/spmspv/kernels/vector_fill.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

using spmspv::vector_arrays;

/// Calls body(indices[k], k) for each pair.
template <class T, class Body>
__global__ void __launch_bounds__(block_threads)
    each_pair(const __grid_constant__ vector_arrays<T> v, Body body) {
    const std::uint32_t stride = gridDim.x * block_threads;
    const auto count = static_cast<std::uint32_t>(*v.count);
    for (std::uint32_t k = blockIdx.x * block_threads + threadIdx.x; k < count; k += stride)
        body(v, static_cast<std::uint32_t>(v.indices[k]), k);
}

template <class T, class Body>
void for_each_pair(device& device, const vector_arrays<T>& v, Body body) {
    if (v.size == 0) return;
    const launch_scope launch(device);
    const auto kernel = each_pair<T, Body>;
    kernel<<<launch.blocks(kernel, block_threads, (v.size + block_threads - 1) / block_threads),
             block_threads, 0, launch.stream()>>>(v, body);
    launch.check_launch();
}

struct scatter_value {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t k) const {
        v.dense[i] = v.values[k];
    }
};
struct set_bit {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t) const {
        atomicOr(v.bits + i / 32, 1u << i % 32);
    }
};
struct clean_value {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t) const {
        v.dense[i] = v.absent;
    }
};
struct clear_bit {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t) const {
        atomicAnd(v.bits + i / 32, ~(1u << i % 32));
    }
};
struct clean_entry {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t k) const {
        clean_value{}(v, i, k);
        clear_bit{}(v, i, k);
    }
};
struct gather_value {
    template <class T>
    __device__ void operator()(const vector_arrays<T>& v, std::uint32_t i, std::uint32_t k) const {
        v.values[k] = v.dense[i];
    }
};

/// Makes bits of dense. A warp takes 8 words at once, so that 8 loads a lane are in flight.
template <class T>
__global__ void __launch_bounds__(block_threads)
    bits_kernel(const __grid_constant__ vector_arrays<T> v) {
    constexpr std::uint32_t at_once = 8;
    const auto words = static_cast<std::uint32_t>((v.size + 31) / 32);
    const auto size = static_cast<std::uint32_t>(v.size);
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t stride = gridDim.x * block_warps * at_once;
    for (std::uint32_t first = (blockIdx.x * block_warps + threadIdx.x / 32) * at_once;
         first < words; first += stride) {
        bool there[at_once];
#pragma unroll
        for (std::uint32_t u = 0; u < at_once; ++u) {
            const std::uint32_t i = (first + u) * 32 + lane; // below 2^31 + 2^8
            there[u] = i < size && v.dense[i] != v.absent;
        }
        std::uint32_t mine = 0;
#pragma unroll
        for (std::uint32_t u = 0; u < at_once; ++u) {
            const std::uint32_t word = __ballot_sync(0xffffffffu, there[u]);
            if (lane == u) mine = word;
        }
        if (lane < at_once && first + lane < words) v.bits[first + lane] = mine;
    }
}

} // namespace

template <class T>
void scatter_values(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, scatter_value{});
}

template <class T>
void scatter_bits(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, set_bit{});
}

template <class T>
void clean_values(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, clean_value{});
}

template <class T>
void clean_bits(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, clear_bit{});
}

template <class T>
void clean_entries(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, clean_entry{});
}

template <class T>
void gather_values(device& device, const vector_arrays<T>& v) {
    for_each_pair(device, v, gather_value{});
}

template <class T>
void fill_absent(device& device, const vector_arrays<T>& v) {
    if (v.size == 0) return;
    if (v.absent == T(0)) return device.zero(v.dense, static_cast<std::size_t>(v.size) * sizeof(T));
    cuda::run_items(device, spmspv::fill_task<T>{v.dense, v.absent}, v.size);
}

template <class T>
void bits_of_dense(device& device, const vector_arrays<T>& v) {
    if (v.size == 0) return;
    const launch_scope launch(device);
    const auto kernel = bits_kernel<T>;
    constexpr int entries_a_block = block_threads * 8;
    kernel<<<launch.blocks(kernel, block_threads, (v.size + entries_a_block - 1) / entries_a_block),
             block_threads, 0, launch.stream()>>>(v);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<scatter_values<T>, scatter_bits<T>, clean_values<T>, clean_bits<T>,  \
                              clean_entries<T>, fill_absent<T>, gather_values<T>,                  \
                              bits_of_dense<T>>;
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
