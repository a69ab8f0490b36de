// A set of columns as a bitmap: filled by many threads, then asked for the rank of a member.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include <krylith/partition/halo/index_map.hpp>

namespace krylith {

/// A set of columns of [begin, end). Insert, then seal, then ask for ranks. It takes 16 bytes for
/// 64 columns of the range, members or not. Against sorting the references (each ghost is
/// referenced several times, in a web-like matrix often) and against a binary search for each,
/// every operation is one cache line. This is the bit vector with rank directory of Jacobson (FOCS
/// 1989).
class column_set {
public:
    /// Makes an empty set. O(end - begin). Throws std::bad_alloc.
    column_set(std::int64_t begin, std::int64_t end);

    /// Inserts a column of [begin, end). Any number of threads may insert at once.
    void insert(std::int64_t column) noexcept {
        const auto position = static_cast<std::uint64_t>(column - begin_);
        const std::uint64_t bit = std::uint64_t{1} << (position % 64);
        const std::atomic_ref<std::uint64_t> bits(words_[position / 64].bits);
        // The cache line stays shared among the cores when the column is there already, as it
        // mostly is.
        if ((bits.load(std::memory_order_relaxed) & bit) == 0) {
            bits.fetch_or(bit, std::memory_order_relaxed);
        }
    }

    /// Ends inserting and counts the ranks. O(end - begin).
    void seal() noexcept;

    /// The number of members. It needs seal.
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }

    /// Returns whether the column is a member; any column may be asked for, also one outside
    /// [begin, end).
    [[nodiscard]] bool contains(std::int64_t column) const noexcept {
        return begin_ <= column && column < end_ &&
               (word_of(column).bits >> (offset_of(column) % 64) & 1) != 0;
    }

    /// Returns how many members are below a column of [begin, end). It needs seal.
    [[nodiscard]] std::int64_t rank(std::int64_t column) const noexcept {
        const word& at = word_of(column);
        const std::uint64_t lower = (std::uint64_t{1} << (offset_of(column) % 64)) - 1;
        return at.below + std::popcount(at.bits & lower);
    }

    /// Returns the local number of a column that `indices` owns, or that is one of its ghosts,
    /// whose set this is. It needs seal.
    [[nodiscard]] std::int32_t local_number(const local_indices& indices,
                                            std::int64_t column) const noexcept {
        const row_range& owned = indices.owned();
        return static_cast<std::int32_t>(
            owned.contains(column) ? indices.first_owned() + column - owned.begin
                                   : rank(column) + (column < owned.begin ? 0 : owned.size()));
    }

    /// Returns all members, ascending. It needs seal. O(end - begin), with OpenMP. Throws
    /// std::bad_alloc.
    [[nodiscard]] std::vector<std::int64_t> members() const;

private:
    struct word {
        std::uint64_t bits = 0;
        std::int64_t below = 0; // members in earlier words
    };

    std::uint64_t offset_of(std::int64_t column) const noexcept {
        return static_cast<std::uint64_t>(column - begin_);
    }
    const word& word_of(std::int64_t column) const noexcept {
        return words_[offset_of(column) / 64];
    }

    std::int64_t begin_;
    std::int64_t end_;
    std::int64_t size_ = 0;
    std::vector<word> words_;
};

} // namespace krylith
