// The head of a .kcsr file: what the file holds, and where (docs/file_formats.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <krylith/matrix/files/checksum.hpp>

namespace krylith::binary {

/// The first bytes of a file. As in PNG they have a byte that isn't ASCII, and line ends that a
/// transfer as text would change.
inline constexpr std::string_view magic = "\x89KCSR\r\n\x1a";
inline constexpr std::uint32_t byte_order_mark = 0x01020304;
inline constexpr std::uint32_t current_version = 1;
inline constexpr std::uint64_t head_bytes = 128;
inline constexpr std::uint64_t alignment = 64;                    ///< of the sections
inline constexpr std::int64_t size_limit = std::int64_t{1} << 56; ///< of rows and nnz: nothing
                                                                  ///< below overflows
enum class value_type : std::uint32_t { fp64 = 1, fp32 = 2 };

template <class T>
inline constexpr value_type value_type_of = sizeof(T) == 8 ? value_type::fp64 : value_type::fp32;

[[nodiscard]] constexpr std::uint64_t bytes_of(value_type type) noexcept {
    return type == value_type::fp64 ? 8 : 4;
}

struct contents {
    value_type type = value_type::fp64;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nnz = 0;
};

/// Bytes [begin, begin + bytes) of the file.
struct section {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;

    [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
    [[nodiscard]] std::uint64_t chunks() const noexcept {
        return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
    }
};

/// The positions of all sections, which are a function of the contents alone.
struct file_layout {
    section table; ///< checksums of the chunks of the other three, in this order
    section row_offsets;
    section column_indices;
    section values;
    std::uint64_t file_bytes = 0;
};

/// Sizes must be in [0, size_limit].
[[nodiscard]] file_layout layout_of(const contents& what) noexcept;

struct head {
    contents what;
    std::uint64_t table_checksum = 0;
};

/// The first head_bytes of a file.
void encode(const head& h, std::span<std::byte, head_bytes> place);

/// Decodes a head from the first head_bytes of a file, or more (all, where it has fewer), and the
/// size of the file. Throws input_error, beginning with `name`.
[[nodiscard]] head decode(std::span<const std::byte> beginning, std::uint64_t file_bytes,
                          const std::string& name);

} // namespace krylith::binary
