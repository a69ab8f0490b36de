#include <krylith/device/cuda/host_sum.cuh>

#include <atomic>
#include <string>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/cuda/posted_memory.hpp>

namespace krylith::cuda {

void await_post(int ordinal, cudaStream_t stream, const std::uint64_t* posted,
                std::uint64_t number) {
    const std::atomic_ref<std::uint64_t> seen(*const_cast<std::uint64_t*>(posted));
    const auto there = [&] { return seen.load(std::memory_order_acquire) == number; };
    for (;;) {
        // The host polls a cache line for some 10 us, and then the stream once.
        for (int i = 0; i < 4096; ++i)
            if (there()) return;
        const current_device current(ordinal);
        const cudaError_t status = cudaStreamQuery(stream);
        if (status == cudaErrorNotReady) {
            cudaGetLastError(); // not a failure: the next launch's check should not see it
            continue;
        }
        KRYLITH_CUDA_CHECK(status);
        if (there()) return;
        throw device_error("cuda:" + std::to_string(ordinal) + ": all work is done, and none of " +
                           "it has posted what is waited for");
    }
}

host_sum::host_sum(int ordinal, cudaStream_t stream)
    : ordinal_(ordinal),
      stream_(stream),
      posted_(
          static_cast<std::uint64_t*>(allocate_posted_memory(ordinal, 2 * sizeof(std::uint64_t)))) {
    const current_device current(ordinal_);
    constexpr std::size_t bytes = 2 * sizeof(unsigned long long);
    cudaError_t status = cudaMalloc(&on_device_, bytes);
    if (status == cudaSuccess) status = cudaMemsetAsync(on_device_, 0, bytes, stream_);
    if (status != cudaSuccess) {
        cudaFree(on_device_);
        free_posted_memory(posted_);
    }
    KRYLITH_CUDA_CHECK(status);
}

host_sum::~host_sum() {
    const current_device current(ordinal_);
    cudaFree(on_device_);
    free_posted_memory(posted_);
}

sum_address host_sum::next() {
    return {on_device_,
            reinterpret_cast<unsigned*>(on_device_ + 1),
            {reinterpret_cast<std::int64_t*>(posted_ + 1), posted_, ++number_}};
}

std::int64_t host_sum::wait() {
    await_post(ordinal_, stream_, posted_, number_);
    return reinterpret_cast<const std::int64_t*>(posted_)[1];
}

void* allocate_post(const device& device, std::size_t bytes) {
    return allocate_posted_memory(device.ordinal(), bytes);
}

void free_post(device& device, void* memory) noexcept {
    auto& on = static_cast<cuda_device&>(device);
    const current_device current(on.ordinal());
    cudaStreamSynchronize(on.stream()); // the kernel that posts may still run
    free_posted_memory(memory);
}

void free_idle_post(void* memory) noexcept {
    free_posted_memory(memory);
}

void wait_for_post(device& device, const std::uint64_t* posted, std::uint64_t number) {
    auto& on = static_cast<cuda_device&>(device);
    device.serve_while_busy();
    await_post(on.ordinal(), on.stream(), posted, number);
}

} // namespace krylith::cuda
