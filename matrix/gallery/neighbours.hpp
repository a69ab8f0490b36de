// The few columns of a row, collected in any order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace krylith {

/// A set of at most `Most` columns, kept ascending and distinct.
template <std::size_t Most>
class neighbours {
public:
    /// Adds a column, in time linear in the columns held.
    void add(std::int64_t column) {
        const auto here = static_cast<std::int32_t>(column);
        auto* const end = columns_.data() + count_;
        auto* const place = std::lower_bound(columns_.data(), end, here);
        if (place != end && *place == here) {
            return;
        }
        std::copy_backward(place, end, end + 1);
        *place = here;
        ++count_;
    }

    [[nodiscard]] const std::int32_t* begin() const { return columns_.data(); }
    [[nodiscard]] const std::int32_t* end() const { return columns_.data() + count_; }
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(count_); }

private:
    std::array<std::int32_t, Most> columns_;
    std::size_t count_ = 0;
};

} // namespace krylith
