#include <krylith/device/words/host_word.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

std::shared_ptr<std::uint32_t> make_host_word(const std::shared_ptr<device>& device) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda)
        return {static_cast<std::uint32_t*>(cuda::allocate_post(*device, sizeof(std::uint32_t))),
                [device](std::uint32_t* word) { cuda::free_post(*device, word); }};
#endif
    (void)device;
    return std::make_shared<std::uint32_t>(0);
}

} // namespace krylith
