#pragma once

#include <cstdint>

namespace krylith {

/// The items begin <= k < end of an array: rows, entries.
struct item_range {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t size() const noexcept { return end - begin; }
};

} // namespace krylith
