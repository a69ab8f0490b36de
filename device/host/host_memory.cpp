#include <krylith/device/host/host_memory.hpp>

#include <cstdint>
#include <cstdlib>
#include <limits>

#include <sys/mman.h>
#include <unistd.h>

namespace krylith {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t huge_page = std::size_t{2} << 20;

/// A huge page would mostly be padding below this size.
constexpr std::size_t huge_from = 2 * huge_page;

} // namespace

void ask_for_huge_pages([[maybe_unused]] void* pointer,
                        [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
    if (bytes >= huge_from) (void)madvise(pointer, bytes, MADV_HUGEPAGE);
#endif
}

void* allocate_host_memory(std::size_t bytes) noexcept {
    const std::size_t unit = bytes >= huge_from ? huge_page : alignment;
    if (bytes > std::numeric_limits<std::size_t>::max() - unit) return nullptr;
    const std::size_t rounded = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    void* pointer = std::aligned_alloc(unit, rounded);
    if (pointer != nullptr) ask_for_huge_pages(pointer, rounded);
    return pointer;
}

void free_host_memory(void* pointer) noexcept {
    std::free(pointer);
}

void* map_host_memory(std::size_t bytes) noexcept {
    void* const pointer =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pointer == MAP_FAILED) return nullptr;
    ask_for_huge_pages(pointer, bytes);
    return pointer;
}

void unmap_host_memory(void* pointer, std::size_t bytes) noexcept {
    if (pointer != nullptr) (void)munmap(pointer, bytes);
}

} // namespace krylith
