// The pattern of a compressed matrix, in words for rows and columns alike.
#pragma once

#include <cstdint>
#include <span>

namespace krylith {

/// The major indices are the rows of CSR. The arrays must have been validated: offsets ascend from
/// 0 to the number of indices, and all indices are below `across`.
struct compressed_pattern {
    std::span<const std::int64_t> offsets; ///< [majors + 1]
    std::span<const std::int32_t> indices; ///< [nonzeros]
    std::int64_t across = 0;

    [[nodiscard]] std::int64_t majors() const noexcept {
        return static_cast<std::int64_t>(offsets.size()) - 1;
    }
    [[nodiscard]] std::int64_t nonzeros() const noexcept {
        return static_cast<std::int64_t>(indices.size());
    }
};

} // namespace krylith
