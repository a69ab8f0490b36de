#include <krylith/tests/device/cuda/posted_words_test.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/posted_words.cuh>

namespace krylith::testing {

namespace {

/// Posts numbers; other threads write all but the first, and a barrier orders them before the post.
__global__ void post_numbers(post_address to, std::int64_t first, int count) {
    const int me = static_cast<int>(threadIdx.x);
    const int step = static_cast<int>(blockDim.x);
    for (int w = me > 0 ? me : step; w < count; w += step) to.words[w] = first + w;
    __syncthreads();
    if (me == 0) cuda::post(to, first);
}

} // namespace

void enqueue_post_on_cuda(device& device, const post_address& to, std::int64_t first, int count) {
    const cuda::launch_scope launch(device);
    post_numbers<<<1, 64, 0, launch.stream()>>>(to, first, count);
    launch.check_launch();
}

} // namespace krylith::testing
