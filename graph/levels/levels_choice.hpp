// Chooses when breadth-first search runs many levels in one launch (persistent_levels.hpp) and when
// products take the levels, by the edges that leave the frontier. It is a value, tested without a
// device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <krylith/device/device.hpp>

namespace krylith {

/// The number of edges up to which levels run in one launch unless the caller says otherwise. On
/// host devices one thread runs them: levels of up to twice as many are not worth more threads to a
/// product either.
[[nodiscard]] constexpr std::int64_t default_level_limit(backend kind) noexcept {
    return kind == backend::cuda ? 65536 : 16384;
}

class levels_choice {
public:
    /// `limit` 0 stands for never.
    explicit levels_choice(std::int64_t limit = 0) : limit_(limit) {}

    /// A launch ends above so many nonzeros: twice the limit, so that levels of about the limit
    /// don't make launches begin and end in turn.
    [[nodiscard]] std::int64_t most_frontier_nonzeros() const noexcept {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        return limit_ > most / 2 ? most : 2 * limit_;
    }

    /// Decides whether the next level runs in a launch. It must be called once before each level.
    [[nodiscard]] bool launches(std::int64_t entries, std::int64_t frontier_nonzeros) noexcept {
        if (pause_ > 0) {
            --pause_;
            return false;
        }
        const std::int64_t limit = launching_ ? most_frontier_nonzeros() : limit_;
        return limit > 0 && std::max(entries, frontier_nonzeros) <= limit;
    }

    /// Notes the result of a launch: its number of levels, and whether a vertex that is too wide
    /// ended it. A product has to take that one. Where launches find one at once again and again,
    /// more and more products (up to 16) come first, because those launches were in vain.
    void launched(std::int64_t levels, bool wide) noexcept {
        launching_ = !wide;
        vain_ = wide && levels == 0 ? std::min(2 * vain_ + 1, 16) : 0;
        pause_ = wide ? std::max(vain_, 1) : 0;
    }
    /// Notes that a product took the level.
    void multiplied() noexcept { launching_ = false; }

private:
    std::int64_t limit_;
    bool launching_ = false;
    int vain_ = 0;  ///< products to come after a launch in vain
    int pause_ = 0; ///< products that still come first
};

} // namespace krylith
