// What one part of a matrix holds whose entries are assigned by an nonzero_partition. "Major
// indices" are rows where entries lie by rows (CSR, sorted COO), and columns where they lie by
// columns (CSC).
//
// Who owns which major indices: a major index with entries is owned by the part that holds the
// first of them. Major indices without entries that lie between two parts may be owned by either;
// like equal_nonzeros, the boundary is the one nearest to that of equal_rows, so that a matrix
// without entries is split into equal major indices. Every major index so has one owner, which
// computes it, or zeroes it where it has no entries; the parts that hold the rest of a major index
// hold it as their first, and don't own it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/partition/nonzero/nonzero_partition.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Entries and major indices of one part. A part without entries has the major indices without
/// entries that it owns, often none.
struct major_range {
    std::int64_t start_idx = 0;   ///< its first entry
    std::int64_t end_idx = 0;     ///< one past the last
    std::int64_t start_major = 0; ///< its first major index
    std::int64_t end_major = 0;   ///< one past the last
    bool start_flag = false;      ///< its first major index began in an earlier part, which owns it

    [[nodiscard]] constexpr std::int64_t entries() const noexcept { return end_idx - start_idx; }
    [[nodiscard]] constexpr std::int64_t major_size() const noexcept {
        return end_major - start_major;
    }
    [[nodiscard]] constexpr row_range owned() const noexcept {
        return {start_major + (start_flag ? 1 : 0), end_major};
    }
    friend bool operator==(const major_range&, const major_range&) = default;
};

/// The start of a major index among the entries of the part, from its start in the matrix: what a
/// pointer array of the part holds at [major index - start_major], start_major <= major index <=
/// end_major.
[[nodiscard]] KRYLITH_HD inline std::int64_t
part_offset(std::int64_t offset, std::int64_t start_idx, std::int64_t end_idx) {
    const std::int64_t inside = offset < start_idx ? start_idx : offset;
    return (inside < end_idx ? inside : end_idx) - start_idx;
}

/// The parts of a matrix in compressed form. O(parts log major indices). `offsets` must ascend from
/// 0, which is not checked here beyond its ends. Throws usage_error if the partition is none or
/// offsets is empty, input_error if offsets don't run from 0 to the number of entries.
[[nodiscard]] std::vector<major_range> make_major_ranges(std::span<const std::int64_t> offsets,
                                                         const nonzero_partition& entries);

/// The same for the major index of each entry, where these ascend: the same major ranges. O(parts).
/// Throws usage_error if the partition is not one of these entries, input_error if the major index
/// of an entry that it looks at is out of range.
[[nodiscard]] std::vector<major_range>
make_sorted_major_ranges(std::int64_t major_size, std::span<const std::int32_t> major_of,
                         const nonzero_partition& entries);

/// The same for major indices in any order: a major range runs from the least major index of the
/// part's entries to the greatest, from 0 to 0 without entries; major ranges overlap, nothing is
/// flagged and nothing is owned. O(entries), by all OpenMP threads. Throws like
/// make_sorted_major_ranges.
[[nodiscard]] std::vector<major_range>
make_unsorted_major_ranges(std::int64_t major_size, std::span<const std::int32_t> major_of,
                           const nonzero_partition& entries);

/// Who owns which major indices, as a partition by which vectors can be laid out. Major ranges of
/// make_major_ranges or make_sorted_major_ranges. O(parts).
[[nodiscard]] row_partition owned_indices(std::span<const major_range> major_ranges);

/// Throw usage_error naming the first violation, calling a major index `major` ("row"): at least
/// one part; parts follow each other from entry 0 to the last; owned major indices follow each
/// other from 0 to the last; a flag stands where a major index goes on and nowhere else; a major
/// index with entries is owned by the part with the first of them. For valid offsets; O(parts).
void check(std::span<const major_range> major_ranges, std::span<const std::int64_t> offsets,
           const char* major = "major index");
/// The same for sorted major indices of entries; major indices must ascend and be in range:
/// input_error. O(entries).
void check_sorted(std::span<const major_range> major_ranges, std::int64_t major_size,
                  std::span<const std::int32_t> major_of, const char* major = "major index");
/// For major indices in any order: parts follow each other, major indices are in range
/// (input_error), and a major range's are the least and the greatest. O(entries).
void check_unsorted(std::span<const major_range> major_ranges, std::int64_t major_size,
                    std::span<const std::int32_t> major_of, const char* major = "major index");
/// What can be said without the matrix: parts follow each other from entry 0 to `entries`, owned
/// major indices from 0 to `major_size`, and only parts with entries have a flag. O(parts).
void check_chain(std::span<const major_range> major_ranges, std::int64_t major_size,
                 std::int64_t entries, const char* major = "major index");

} // namespace krylith
