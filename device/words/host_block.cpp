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
                [device](std::byte* block) { cuda::free_post(*device, block); }};
#endif
    (void)device;
    constexpr std::align_val_t line{128};
    auto* const block = static_cast<std::byte*>(
        ::operator new(std::max<std::size_t>(bytes, 1), line));
    std::memset(block, 0, bytes);
    return {block, [](std::byte* memory) { ::operator delete(memory, line); }};
}

std::shared_ptr<std::uint32_t> make_host_word(const std::shared_ptr<device>& device) {
    const auto block = make_host_block(device, sizeof(std::uint32_t));
    return {block, reinterpret_cast<std::uint32_t*>(block.get())};
}

} // namespace krylith
