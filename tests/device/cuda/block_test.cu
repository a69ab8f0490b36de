#include <krylith/tests/device/cuda/block_test.hpp>

#include <krylith/device/cuda/block.cuh>
#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::testing {

namespace {

constexpr int warps = sum_threads / 32;

__global__ void sums_kernel(const std::int32_t* values, sums_of_thread* sums, std::int32_t* stored,
                            unsigned* arrived, std::int32_t* last) {
    __shared__ std::int64_t wide_sums[warps];
    __shared__ std::int32_t warp_sums[warps];
    const auto me = static_cast<int>(threadIdx.x);
    const int lane = cuda::lane_number();
    const std::int32_t mine = values[me];
    sums_of_thread s{};
    s.warp = cuda::warp_sum(mine);
    s.pair = cuda::warp_sum<2>(mine);
    s.eight = cuda::warp_sum<8>(mine);
    s.wide = cuda::warp_sum(std::int64_t{mine} << 32);
    s.real = cuda::warp_sum(static_cast<double>(mine));
    s.largest = cuda::warp_reduce<4>(mine, [](auto a, auto b) { return max(a, b); });
    s.running = cuda::warp_running_sum(mine);
    s.segment = cuda::warp_scan(mine, lane % 5, [](auto a, auto b) { return a + b; });
    s.of_block = cuda::block_sum(std::int64_t{mine} << 32, wide_sums);
    s.for_all = cuda::block_sum_for_all(mine, warp_sums);
    if (blockIdx.x == 0) sums[me] = s;
    if (me == sum_threads - 1) stored[blockIdx.x] = static_cast<std::int32_t>(blockIdx.x) + 1;
    if (!cuda::last_block(arrived) || me != 0) return;
    for (unsigned b = 0; b < gridDim.x; ++b) *last += __ldcg(stored + b);
}

} // namespace

void enqueue_sums_on_cuda(device& device, const std::int32_t* values, sums_of_thread* sums,
                          std::int32_t* stored, unsigned* arrived, std::int32_t* last) {
    const cuda::launch_scope launch(device);
    sums_kernel<<<sum_blocks, sum_threads, 0, launch.stream()>>>(values, sums, stored, arrived,
                                                                 last);
    launch.check_launch();
}

} // namespace krylith::testing
