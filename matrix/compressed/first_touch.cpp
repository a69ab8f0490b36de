#include <krylith/matrix/compressed/first_touch.hpp>

#include <cstdint>

#include <sys/mman.h>

namespace krylith {

void touch_pages(void* begin, std::size_t bytes) {
    constexpr std::size_t page = 4096; // the least of all systems; more touches do no harm
    constexpr std::size_t worthwhile = std::size_t{1} << 22;
    if (bytes < worthwhile) {
        return;
    }
    auto* const first = static_cast<volatile std::byte*>(begin);
    const auto offset = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
    const auto pages = static_cast<std::int64_t>((bytes - offset) / page);
    // This is advice: where huge pages are off, or a page is larger, it fails, and nothing is lost.
    static_cast<void>(madvise(static_cast<std::byte*>(begin) + offset,
                              static_cast<std::size_t>(pages) * page, MADV_HUGEPAGE));
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < pages; ++k) {
        first[offset + static_cast<std::size_t>(k) * page] = std::byte{0};
    }
}

} // namespace krylith
