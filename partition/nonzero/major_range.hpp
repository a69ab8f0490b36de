// What one part of a matrix holds whose entries are dealt by an entry_partition. "Lines" are rows
// where entries lie by rows (CSR, sorted COO), and columns where they lie by columns (CSC).
//
// Who owns which lines: a line with entries is owned by the part that holds the first of them.
// Lines without entries that lie between two parts may be owned by either; like equal_nonzeros,
// the boundary is the one nearest to that of equal_rows, so that a matrix without entries is split
// into equal lines. Every line so has one owner, which computes it, or zeroes it where it has no
// entries; the parts that hold the rest of a line hold it as their first, and don't own it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/partition/nonzero/nonzero_partition.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Entries and lines of one part. A part without entries has the lines without entries that it
/// owns, often none.
struct line_share {
    std::int64_t start_idx = 0;  ///< its first entry
    std::int64_t end_idx = 0;    ///< one past the last
    std::int64_t start_line = 0; ///< its first line
    std::int64_t end_line = 0;   ///< one past the last
    bool start_flag = false;     ///< its first line began in an earlier part, which owns it

    [[nodiscard]] constexpr std::int64_t entries() const noexcept { return end_idx - start_idx; }
    [[nodiscard]] constexpr std::int64_t lines() const noexcept { return end_line - start_line; }
    [[nodiscard]] constexpr row_range owned() const noexcept {
        return {start_line + (start_flag ? 1 : 0), end_line};
    }
    friend bool operator==(const line_share&, const line_share&) = default;
};

/// The start of a line among the entries of the part, from its start in the matrix: what a pointer
/// array of the part holds at [line - start_line], start_line <= line <= end_line.
[[nodiscard]] KRYLITH_HD inline std::int64_t
part_offset(std::int64_t offset, std::int64_t start_idx, std::int64_t end_idx) {
    const std::int64_t inside = offset < start_idx ? start_idx : offset;
    return (inside < end_idx ? inside : end_idx) - start_idx;
}

/// The parts of a matrix in compressed form. O(parts log lines). `offsets` must ascend from 0,
/// which is not checked here beyond its ends. Throws usage_error if the partition is none or
/// offsets is empty, input_error if offsets don't run from 0 to the number of entries.
[[nodiscard]] std::vector<line_share> share_lines(std::span<const std::int64_t> offsets,
                                                  const entry_partition& entries);

/// The same for the line of each entry, where these ascend: the same shares. O(parts). Throws
/// usage_error if the partition is not one of these entries, input_error if the line of an entry
/// that it looks at is out of range.
[[nodiscard]] std::vector<line_share> share_sorted_lines(std::int64_t lines,
                                                         std::span<const std::int32_t> line_of,
                                                         const entry_partition& entries);

/// The same for lines in any order: a share runs from the least line of the part's entries to the
/// greatest, from 0 to 0 without entries; shares overlap, nothing is flagged and nothing is
/// owned. O(entries), by all OpenMP threads. Throws like share_sorted_lines.
[[nodiscard]] std::vector<line_share> share_unsorted_lines(std::int64_t lines,
                                                           std::span<const std::int32_t> line_of,
                                                           const entry_partition& entries);

/// Who owns which lines, as a partition by which vectors can be laid out. Shares of share_lines or
/// share_sorted_lines. O(parts).
[[nodiscard]] row_partition owned_lines(std::span<const line_share> shares);

/// Throw usage_error naming the first violation, calling a line `line` ("row"): at least one part;
/// parts follow each other from entry 0 to the last; owned lines follow each other from 0 to the
/// last; a flag stands where a line goes on and nowhere else; a line with entries is owned by the
/// part with the first of them. For valid offsets; O(parts).
void check(std::span<const line_share> shares, std::span<const std::int64_t> offsets,
           const char* line = "line");
/// The same for sorted lines of entries; lines must ascend and be in range: input_error.
/// O(entries).
void check_sorted(std::span<const line_share> shares, std::int64_t lines,
                  std::span<const std::int32_t> line_of, const char* line = "line");
/// For lines in any order: parts follow each other, lines are in range (input_error), and a share's
/// are the least and the greatest. O(entries).
void check_unsorted(std::span<const line_share> shares, std::int64_t lines,
                    std::span<const std::int32_t> line_of, const char* line = "line");
/// What can be said without the matrix: parts follow each other from entry 0 to `entries`, owned
/// lines from 0 to `lines`, and only parts with entries have a flag. O(parts).
void check_chain(std::span<const line_share> shares, std::int64_t lines, std::int64_t entries,
                 const char* line = "line");

} // namespace krylith
