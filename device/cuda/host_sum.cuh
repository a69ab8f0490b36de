// One number that the blocks of a kernel add up and post to the host (posted_words.hpp says why).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/atomics.cuh>
#include <krylith/device/cuda/posted_words.cuh>

namespace krylith::cuda {

/// Plain data for a kernel.
struct sum_address {
    unsigned long long* sum; ///< on the device; 0 between kernels, like `finished`
    unsigned* finished;      ///< blocks
    post_address to;
};

/// Adds the block's part; one thread of each block calls it. The last one posts the sum.
__device__ inline void add_and_post(const sum_address& a, std::int64_t part) {
    atomicAdd(a.sum, static_cast<unsigned long long>(part));
    if (add_acq_rel(a.finished, 1) != gridDim.x - 1) return;
    const auto total = static_cast<std::int64_t>(atomicExch(a.sum, 0ull));
    *a.finished = 0;
    post(a.to, total);
}

/// Memory for such sums of one stream, one at a time. Not copyable.
class host_sum {
public:
    /// Throws device_error.
    host_sum(int ordinal, cudaStream_t stream);
    host_sum(const host_sum&) = delete;
    host_sum& operator=(const host_sum&) = delete;
    /// The stream must be idle.
    ~host_sum();

    /// The address for the kernel that is enqueued next.
    [[nodiscard]] sum_address next();
    /// Waits until that kernel has posted; throws device_error where the device failed before.
    [[nodiscard]] std::int64_t wait();

private:
    int ordinal_;
    cudaStream_t stream_;
    std::uint64_t* posted_ = nullptr; ///< and behind it the sum
    unsigned long long* on_device_ = nullptr;
    std::uint64_t number_ = 0;
};

/// Waits until `number` is there; throws device_error where the stream has failed, or is idle
/// without it.
void await_post(int ordinal, cudaStream_t stream, const std::uint64_t* posted,
                std::uint64_t number);

} // namespace krylith::cuda
