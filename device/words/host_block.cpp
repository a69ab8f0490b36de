#include <krylith/device/words/host_block.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA
#include <krylith/device/cuda/cuda_runtime.hpp>
#endif

namespace krylith {

std::shared_ptr<std::byte> make_host_block(const std::shared_ptr<device>& device,
                                           std::size_t bytes) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda)
        return {static_cast<std::byte*>(cuda::allocate_post(*device, bytes)),
                [device](std::byte* block) { cuda::free_idle_post(block); }};
#endif
    (void)device;
    constexpr std::align_val_t line{128};
    auto* const block =
        static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), line));
    std::memset(block, 0, bytes);
    return {block, [](std::byte* memory) { ::operator delete(memory, line); }};
}

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
