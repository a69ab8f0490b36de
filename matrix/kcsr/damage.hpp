// What a damaged .kcsr file is refused with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <krylith/matrix/kcsr/head.hpp>

namespace krylith::binary {

/// These throw input_error, beginning with `name`.

/// A chunk that starts at that byte of the file.
void check_sum(const std::string& name, std::uint64_t begin, std::span<const std::byte> chunk,
               std::uint64_t expected);

/// The table of checksums, which has one itself.
void check_table(const std::string& name, const section& table, std::span<const std::byte> bytes,
                 std::uint64_t expected);

/// Between the sections there are zeros, so that all bytes are vouched for.
void check_gap(const std::string& name, std::uint64_t begin, std::span<const std::byte> gap);

} // namespace krylith::binary
