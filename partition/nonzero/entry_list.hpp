// Which entries of a matrix a block of it has, in the order of the block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Ranges of entries, one after the other, or each entry by its number in the matrix.
class entry_list {
public:
    entry_list() = default;
    /// Ranges without entries are left out, and those that continue each other are joined.
    explicit entry_list(std::span<const row_range> ranges) {
        for (const row_range& range : ranges) {
            if (range.size() <= 0) continue;
            if (!ranges_.empty() && ranges_.back().end == range.begin) {
                ranges_.back().end = range.end;
            } else {
                ranges_.push_back(range);
                begin_.push_back(begin_.back());
            }
            begin_.back() += range.size();
        }
    }
    explicit entry_list(row_range range) : entry_list(std::span<const row_range>(&range, 1)) {}
    /// `numbers` ascend.
    explicit entry_list(std::vector<std::int64_t> numbers) {
        if (numbers.empty()) return;
        const auto size = static_cast<std::int64_t>(numbers.size());
        if (numbers.back() - numbers.front() + 1 == size)
            *this = entry_list(row_range{numbers.front(), numbers.back() + 1});
        else
            numbers_ = std::move(numbers);
    }

    [[nodiscard]] std::int64_t size() const noexcept {
        return numbers_.empty() ? begin_.back() : static_cast<std::int64_t>(numbers_.size());
    }
    /// Whether entries follow each other in the matrix, or there are none.
    [[nodiscard]] bool consecutive() const noexcept {
        return numbers_.empty() && ranges_.size() <= 1;
    }
    /// The ranges; empty where each entry has its number.
    [[nodiscard]] std::span<const row_range> ranges() const noexcept { return ranges_; }

    /// The number in the matrix of entry `at` of the list.
    [[nodiscard]] std::int64_t number(std::int64_t at) const {
        if (!numbers_.empty()) return numbers_[as_size(at)];
        const auto k = as_size(std::ranges::upper_bound(begin_, at) - begin_.begin() - 1);
        return ranges_[k].begin + at - begin_[k];
    }
    /// Calls give(range, at) for the ranges of entries [first, first + count) of the list, which
    /// begin at place `at` of these. Only where they are ranges.
    template <class Give>
    void for_ranges(std::int64_t first, std::int64_t count, const Give& give) const {
        auto k = as_size(std::ranges::upper_bound(begin_, first) - begin_.begin() - 1);
        for (std::int64_t at = 0; at < count; ++k) {
            const std::int64_t begin = ranges_[k].begin + first + at - begin_[k];
            const std::int64_t end = std::min(ranges_[k].end, begin + count - at);
            give(row_range{begin, end}, at);
            at += end - begin;
        }
    }
    /// Copies entries [first, first + count) of the list from the values of all entries.
    template <class V>
    void read(const V* all, std::int64_t first, std::int64_t count, V* to) const {
        for (std::int64_t k = 0; !numbers_.empty() && k < count; ++k)
            to[k] = all[numbers_[as_size(first + k)]];
        if (numbers_.empty())
            for_ranges(first, count, [&](row_range range, std::int64_t at) {
                std::copy(all + range.begin, all + range.end, to + at);
            });
    }

    /// The values of the entries: part of `all`, or gathered into `room`, with OpenMP.
    template <class V>
    [[nodiscard]] std::span<const V> of(std::span<const V> all, std::vector<V>& room) const {
        if (size() == 0) return {};
        if (consecutive())
            return all.subspan(as_size(ranges_.front().begin), as_size(ranges_.front().size()));
        room.clear();
        resize_in_parallel(room, as_size(size()));
        constexpr std::int64_t piece = 16384;
        const std::int64_t count = size();
#pragma omp parallel for schedule(static)
        for (std::int64_t first = 0; first < count; first += piece)
            read(all.data(), first, std::min(piece, count - first), room.data() + first);
        return room;
    }

private:
    std::vector<row_range> ranges_;
    std::vector<std::int64_t> begin_{0}; ///< of the ranges in the list, and its size
    std::vector<std::int64_t> numbers_;
};

} // namespace krylith
