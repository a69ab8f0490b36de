// The bytes that a product reads of a block in compressed rows.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/sparse/table/format_method.hpp>

namespace krylith {

/// The width of offsets on a device: 4 bytes as long as they fit.
[[nodiscard]] constexpr std::int64_t offset_bytes(std::int64_t nonzeros) noexcept {
    return nonzeros <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
}

/// A value and a column of 4 bytes a nonzero, and the offsets.
[[nodiscard]] inline std::int64_t csr_bytes(const block_pattern& block) noexcept {
    const auto nonzeros = static_cast<std::int64_t>(block.columns.size());
    return nonzeros * (block.value_bytes + 4) +
           static_cast<std::int64_t>(block.offsets.size()) * offset_bytes(nonzeros);
}

} // namespace krylith
