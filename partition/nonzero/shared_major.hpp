// The lines that several parts hold: what is added up after every part has computed its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

/// The sum of a line is that of first_part, its owner, in whose last line it stands, plus those of
/// the later parts to last_part that have entries, in whose first line it stands; in the order of
/// parts, so that it has the same bits in every run. Parts without entries among them hold nothing.
struct shared_line {
    std::int64_t line = 0;
    int first_part = 0;
    int last_part = 0;

    friend bool operator==(const shared_line&, const shared_line&) = default;
};

/// All of them; lines ascend, at most one a part but the first. Shares of share_lines or
/// share_sorted_lines; those of unsorted entries have no flags, and their partial results are
/// added over the whole length, in the order of parts. O(parts).
[[nodiscard]] std::vector<shared_line> shared_lines(std::span<const line_share> shares);

/// Throws usage_error naming the first violation: each flagged part is counted by one shared line,
/// whose owner is right; lines ascend. Shares no code with shared_lines. O(parts^2).
void check(std::span<const shared_line> plan, std::span<const line_share> shares);

} // namespace krylith
