// Checksums of .kcsr files: XXH3, 64 bits, seed 0 (https://xxhash.com), faster than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace krylith::binary {

inline constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20; ///< under one checksum

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// Writes the checksum of each chunk_bytes of the section (the last may be shorter), by all OpenMP
/// threads. table.size() must be the number of chunks.
void chunk_checksums(std::span<const std::byte> section, std::span<std::uint64_t> table) noexcept;

} // namespace krylith::binary
