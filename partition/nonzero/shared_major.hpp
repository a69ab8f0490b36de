// The major indices that several parts hold: what is added up after every part has computed its
// own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

/// The sum of a major index is that of first_part, its owner, in whose last major index it stands,
/// plus those of the later parts to last_part that have entries, in whose first major index it
/// stands; in the order of parts, so that it has the same bits in every run. Parts without entries
/// among them hold nothing.
struct shared_index {
    std::int64_t major = 0;
    int first_part = 0;
    int last_part = 0;

    friend bool operator==(const shared_index&, const shared_index&) = default;
};

/// All of them; major indices ascend, at most one a part but the first. Major ranges of
/// make_major_ranges or make_sorted_major_ranges; those of unsorted entries have no flags, and
/// their partial results are added over the whole length, in the order of parts. O(parts).
[[nodiscard]] std::vector<shared_index> shared_indices(std::span<const major_range> major_ranges);

/// Throws usage_error naming the first violation: each flagged part is counted by one shared major
/// index, whose owner is right; major indices ascend. Shares no code with shared_indices.
/// O(parts^2).
void check(std::span<const shared_index> plan, std::span<const major_range> major_ranges);

} // namespace krylith
