// Bytes that many threads may read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace krylith::binary {

/// A file, a part of one, or bytes in memory.
struct byte_source {
    std::string name; ///< the name in messages
    std::uint64_t bytes = 0;
    /// Fills the place from that byte on; [begin, begin + place.size()) must lie in the source.
    /// Throws input_error where it can't be read.
    std::function<void(std::uint64_t begin, std::span<std::byte> place)> read;
};

} // namespace krylith::binary
