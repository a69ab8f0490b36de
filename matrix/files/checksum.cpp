#include <krylith/matrix/files/checksum.hpp>

#include <algorithm>

#define XXH_INLINE_ALL // the header alone: no library to link
#ifdef __AVX2__
#define XXH_VECTOR 2 // AVX2 keeps up with memory; AVX-512 gains nothing and makes gcc 12 warn
#endif
#include <xxhash.h>

namespace krylith::binary {

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
    return XXH3_64bits(bytes.data(), bytes.size());
}

void chunk_checksums(std::span<const std::byte> section, std::span<std::uint64_t> table) noexcept {
    const auto chunks = static_cast<std::int64_t>(table.size());
#pragma omp parallel for schedule(static) if (chunks > 1)
    for (std::int64_t k = 0; k < chunks; ++k) {
        const std::size_t begin = static_cast<std::size_t>(k) * chunk_bytes;
        table[static_cast<std::size_t>(k)] = checksum(
            section.subspan(begin, std::min<std::size_t>(chunk_bytes, section.size() - begin)));
    }
}

} // namespace krylith::binary
