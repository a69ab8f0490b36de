// pCSR, pCSC and pCOO: the nonzeros of a matrix in consecutive ranges, equal whatever the rows are,
// since a range may begin and end within a row. A range is a small matrix in the format of the
// whole, over its unmoved arrays: any kernel for the format runs on it.
// (Chen et al., MSREP: A Fast yet Light Sparse Matrix Framework for Multi-GPU Systems,
// arXiv:2209.07552.)
//
//     const pcsr cut = make_pcsr(offsets, equal_entries(offsets.back(), 4));
//     for (const major_range& range : cut.ranges) {
//         const std::vector<std::int64_t> own = range_offsets(offsets, range);
//         ... multiply x by the range.majors() rows of offsets `own`, columns + range.start_idx and
//         ... values + range.start_idx: sums of the rows from range.start_major on, of which those
//         ... of range.owned() go to y
//     }
//     ... for each row of cut.shared, add to y the first sum of each later range that has entries
//
// examples/cusparse_parts.cu does this with cuSPARSE on several GPUs. By columns each range has
// sums of all rows, which are added up.
//
// Entries are sorted by their major index: the row in CSR and in COO by rows (pCSR, pCOO), the
// column in CSC and in COO by columns (pCSC, pCOO). The arithmetic is the same for all of them.
//
// A major index with entries is owned by the range that has the first of them. Those without
// entries that lie between two ranges may be owned by either; like equal_nonzeros, the boundary is
// the one nearest to that of equal_rows, so that a matrix without entries is split into equal rows.
// Every major index so has one owner, which computes it, or zeroes it where it has no entries; the
// ranges that have the rest of its entries have it as their first, and don't own it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/partition/nonzero/cut_place.hpp>
#include <krylith/partition/nonzero/nonzero_partition.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Entries and major indices of one range. A range without entries has the major indices without
/// entries that it owns, often none.
struct major_range {
    std::int64_t start_idx = 0;   ///< its first entry
    std::int64_t end_idx = 0;     ///< one past the last
    std::int64_t start_major = 0; ///< its first major index
    std::int64_t end_major = 0;   ///< one past the last
    bool start_flag = false;      ///< its first began in an earlier range, which owns it

    [[nodiscard]] constexpr std::int64_t entries() const noexcept { return end_idx - start_idx; }
    [[nodiscard]] constexpr std::int64_t majors() const noexcept { return end_major - start_major; }
    [[nodiscard]] constexpr row_range owned() const noexcept {
        return {start_major + (start_flag ? 1 : 0), end_major};
    }
    friend bool operator==(const major_range&, const major_range&) = default;
};

/// The start of a major index among the entries of a range, from its start in the matrix: what a
/// pointer array of the range holds at [major - start_major], start_major <= major <= end_major.
[[nodiscard]] KRYLITH_HD inline std::int64_t
range_offset(std::int64_t offset, std::int64_t start_idx, std::int64_t end_idx) {
    const std::int64_t inside = offset < start_idx ? start_idx : offset;
    return (inside < end_idx ? inside : end_idx) - start_idx;
}

/// The pointer array of a range: [majors + 1] from 0 to the number of its entries. O(majors).
/// Throws usage_error for a range beyond the offsets.
[[nodiscard]] std::vector<std::int64_t> range_offsets(std::span<const std::int64_t> offsets,
                                                      const major_range& range);

/// A major index that several ranges have. Its sum is that of range `first`, its owner, in whose
/// last major index it stands, plus those of the later ranges to `last` that have entries, in whose
/// first it stands; in the order of ranges, so that it has the same bits in every run.
struct shared_major {
    std::int64_t major = 0;
    int first = 0;
    int last = 0;

    friend bool operator==(const shared_major&, const shared_major&) = default;
};

/// A matrix cut into ranges of its entries.
struct pcsr {
    std::vector<major_range> ranges;
    std::vector<shared_major> shared = {}; ///< ascending; at most one a range but the first

    /// Who owns which major indices, as a partition by which vectors can be laid out. O(ranges).
    [[nodiscard]] row_partition owned() const;
    /// The last range that has entries of the last major index of range k, where k owns it and
    /// others have some; else k. O(log ranges).
    [[nodiscard]] int last_holder(int k) const;

    friend bool operator==(const pcsr&, const pcsr&) = default;
};

/// Ranges of a matrix in compressed form: CSR, or CSC by the offsets of its columns. O(ranges log
/// offsets). `offsets` must ascend from 0, which is not checked here beyond its ends. Throws
/// usage_error if `entries` is no partition or offsets is empty, input_error if offsets don't run
/// from 0 to the number of entries.
[[nodiscard]] pcsr make_pcsr(std::span<const std::int64_t> offsets,
                             const nonzero_partition& entries);

/// The same from the places of all ends of ranges, for whom they were found where the offsets lie.
/// O(ranges). Throws usage_error if `entries` is no partition or has another number of ends.
[[nodiscard]] pcsr make_pcsr(std::int64_t majors, std::span<const cut_place> places,
                             const nonzero_partition& entries);

/// The same from the major index of each entry, where these ascend: COO by rows or by columns.
/// O(ranges). Throws usage_error if `entries` is not a partition of them, input_error if a major
/// index that it looks at is not below `majors`.
[[nodiscard]] pcsr make_pcoo(std::int64_t majors, std::span<const std::int32_t> major_of,
                             const nonzero_partition& entries);

/// Throw usage_error naming the first violation, calling a major index `major` ("row"): at least
/// one range; ranges follow each other from entry 0 to the last; owned major indices follow each
/// other from 0 to the last; a flag stands where a major index goes on and nowhere else; one with
/// entries is owned by the range with the first of them; each flagged range is counted by one
/// shared major index, whose owner is right; these ascend. For valid offsets; O(ranges^2).
void check(const pcsr& partition, std::span<const std::int64_t> offsets,
           const char* major = "major");
/// The same for the major index of each entry; these must ascend and be in range: input_error.
/// O(entries + ranges^2).
void check(const pcsr& partition, std::int64_t majors, std::span<const std::int32_t> major_of,
           const char* major = "major");

} // namespace krylith
