#include <krylith/tests/device/launch_together_test.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/kernel/peer_memory.cuh>

namespace krylith::testing {

namespace {

__global__ void wait_for_word(all_reduce_slots all_reduce, const std::uint64_t* word,
                              std::int32_t* result) {
    const bool came =
        cuda::wait_until(all_reduce, 1, [&] { return cuda::load_acquire(word) != 0; });
    *result = came ? 2 : 1;
}

} // namespace

void enqueue_wait_on_cuda(device& device, const all_reduce_slots& all_reduce,
                          const std::uint64_t* word, std::int32_t* result) {
    const cuda::launch_scope launch(device);
    wait_for_word<<<1, 1, 0, launch.stream()>>>(all_reduce, word, result);
    launch.check_launch();
}

} // namespace krylith::testing
