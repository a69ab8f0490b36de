// Positions of nonzeros, in 32 bits where there are few enough, else in 64.
#pragma once

#include <cstdint>
#include <limits>

#include <krylith/matrix/types/mocked_index_limit.hpp>

namespace krylith {

/// At most one of the arrays is not null.
struct permutation_view {
    std::uint32_t* narrow = nullptr;
    std::int64_t* wide = nullptr;
};

[[nodiscard]] inline bool has_narrow_positions(std::int64_t nonzeros) noexcept {
    return nonzeros <= std::int64_t{std::numeric_limits<std::uint32_t>::max()};
}

} // namespace krylith
