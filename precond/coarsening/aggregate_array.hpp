// Memory of a rank for the aggregates that it owns or uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::aggregation {

/// The aggregates that a rank owns, or that its rows refer to, and those between them.
[[nodiscard]] inline row_range window_of(row_range owned, row_range used) {
    if (used.size() == 0) return owned;
    if (owned.size() == 0) return used;
    return {std::min(owned.begin, used.begin), std::max(owned.end, used.end)};
}

/// `numbers` entries of a rank for each aggregate of a range.
template <class V>
class aggregate_array {
public:
    aggregate_array() = default;
    aggregate_array(const std::shared_ptr<device>& device, row_range aggregates,
                    std::int64_t numbers, const char* item)
        : aggregates_(aggregates),
          numbers_(numbers),
          memory_(device, static_cast<std::size_t>(aggregates.size() * numbers), item) {}

    /// The place that aggregate 0 would have; null where there is none.
    [[nodiscard]] V* data() const noexcept {
        return memory_.size() == 0 ? nullptr : memory_.data() - aggregates_.begin * numbers_;
    }
    /// The entries that are there.
    [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }
    [[nodiscard]] bool is_of(row_range aggregates, std::int64_t numbers) const noexcept {
        return aggregates_ == aggregates && numbers_ == numbers;
    }
    void zero() const { memory_.zero(); }

private:
    row_range aggregates_;
    std::int64_t numbers_ = 0;
    buffer<V> memory_;
};

} // namespace krylith::aggregation
