// The errors of damaged .kcsr files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <krylith/matrix/kcsr/head.hpp>

namespace krylith::binary {

/// These functions throw input_error, beginning with `name`.

/// Checks a chunk that starts at that byte of the file.
void check_sum(const std::string& name, std::uint64_t begin, std::span<const std::byte> chunk,
               std::uint64_t expected);

/// Checks the table of checksums, which has a checksum itself.
void check_table(const std::string& name, const section& table, std::span<const std::byte> bytes,
                 std::uint64_t expected);

/// Checks the bytes between sections, which are zeros, so that no byte of the file is unchecked.
void check_gap(const std::string& name, std::uint64_t begin, std::span<const std::byte> gap);

} // namespace krylith::binary
