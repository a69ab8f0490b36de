// Gzip data unpacked in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <krylith/matrix/files/byte_source.hpp>

namespace krylith::files {

/// How far gzip data are followed: what they may always unpack to, and, beyond it, how many times
/// their own size.
struct unpacking_limits {
    std::uint64_t bytes = std::uint64_t{1} << 30;
    std::uint64_t ratio = 200;
};

/// Whether bytes start as gzip data do.
[[nodiscard]] bool is_gzip(std::string_view beginning) noexcept;

/// Unpacks the beginning of gzip data, at most `most` bytes; less where the data are damaged or
/// end.
[[nodiscard]] std::string unpack_beginning(std::string_view packed, std::size_t most);

/// Unpacks all members of gzip data, one after another. Throws input_error for data that are
/// corrupt, cut off or a bomb, and where the memory can't hold the result.
[[nodiscard]] std::string unpack(const binary::byte_source& packed,
                                 const unpacking_limits& limits = {});

} // namespace krylith::files
