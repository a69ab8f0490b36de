// When breadth-first search walks level after level in one launch (persistent_levels.hpp), and when
// products take the levels: by the edges that leave the frontier. A value, tested without a device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <krylith/device/device.hpp>

namespace krylith {

/// Edges up to which levels are walked unless the caller says otherwise. On host devices one thread
/// walks: so much, and twice as much, is not worth more of them to a product either.
[[nodiscard]] constexpr std::int64_t default_level_limit(backend kind) noexcept {
    return kind == backend::cuda ? 65536 : 16384;
}

class levels_choice {
public:
    /// 0: never.
    explicit levels_choice(std::int64_t limit = 0) : limit_(limit) {}

    /// A walk that is under way ends above so many: levels of about the limit don't make it begin
    /// and end by turns.
    [[nodiscard]] std::int64_t most_frontier_nonzeros() const noexcept {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        return limit_ > most / 2 ? most : 2 * limit_;
    }

    /// Of the next level, once before each: whether it is walked.
    [[nodiscard]] bool launches(std::int64_t entries, std::int64_t frontier_nonzeros) noexcept {
        if (pause_ > 0) {
            --pause_;
            return false;
        }
        const std::int64_t limit = launching_ ? most_frontier_nonzeros() : limit_;
        return limit > 0 && std::max(entries, frontier_nonzeros) <= limit;
    }

    /// What came of a walk: levels, and whether a vertex that was too wide ended it. That one is a
    /// product's; where walks find one at once again and again, ever more products come first (up
    /// to 16), since looking was for nothing.
    void launched(std::int64_t levels, bool wide) noexcept {
        launching_ = !wide;
        vain_ = wide && levels == 0 ? std::min(2 * vain_ + 1, 16) : 0;
        pause_ = wide ? std::max(vain_, 1) : 0;
    }
    /// A product was next.
    void multiplied() noexcept { launching_ = false; }

private:
    std::int64_t limit_;
    bool launching_ = false;
    int vain_ = 0;  ///< products to come after a walk for nothing
    int pause_ = 0; ///< products still to come first
};

} // namespace krylith
