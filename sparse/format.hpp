// The formats in which a device can hold its block of a matrix.
#pragma once

#include <span>
#include <string_view>

namespace krylith {

/// The format of a device's block.
enum class format_kind {
    automatic, ///< CUDA: by the lengths of rows (format_choice.hpp); host: csr
    csr,
    sell,
    merge,   ///< csr by merge path: equal work for all blocks, whatever the lengths of rows
    cusparse ///< cuSPARSE
};

[[nodiscard]] const char* to_string(format_kind kind) noexcept;
/// Throws usage_error naming the nearest valid name.
[[nodiscard]] format_kind parse_format_kind(std::string_view name);
/// The names that parse_format_kind() accepts, in the order of the enumerators.
[[nodiscard]] std::span<const std::string_view> format_names() noexcept;

} // namespace krylith
