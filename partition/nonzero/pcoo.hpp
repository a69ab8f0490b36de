// pCOO: equal entries of a coordinate matrix for each part, as views of its unmoved arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

/// How entries lie. What is sorted both ways counts as by rows.
enum class coo_order {
    by_rows,    ///< rows never descend; columns within them may be in any order
    by_columns, ///< columns never descend
    unsorted
};

/// "by rows", "by columns", "unsorted".
[[nodiscard]] const char* to_string(coo_order order) noexcept;

/// One pass over both arrays, by all OpenMP threads. Throws usage_error if sizes disagree.
[[nodiscard]] coo_order find_coo_order(std::span<const std::int32_t> row_indices,
                                       std::span<const std::int32_t> column_indices);

/// One part; indices are those of the matrix. What its result is depends on the order:
/// - by rows: rows of the share; the first may be shared (shared_indices);
/// - by columns: all rows, of the entries of x in the share; summed over the parts;
/// - unsorted: rows of the share, which overlaps others; summed over the parts.
/// Sums are in the order of parts.
template <class T>
struct pcoo_range {
    major_range majors;
    std::span<const std::int32_t> row_indices = {};
    std::span<const std::int32_t> column_indices = {};
    std::span<const T> values = {}; ///< empty where only the pattern was given
};

template <class T>
struct pcoo {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    coo_order order = coo_order::unsorted;
    std::vector<major_range> major_ranges =
        {}; ///< major indices are columns if by_columns, else rows
    std::span<const std::int32_t> row_indices = {};    ///< of the matrix, borrowed
    std::span<const std::int32_t> column_indices = {}; ///< likewise
    std::span<const T> values = {};                    ///< likewise

    [[nodiscard]] int parts() const noexcept { return static_cast<int>(major_ranges.size()); }

    /// 0 <= part < parts(). Valid as long as the arrays of the matrix.
    [[nodiscard]] pcoo_range<T> range(int part) const {
        const major_range& majors = major_ranges[static_cast<std::size_t>(part)];
        const std::size_t first = as_size(majors.start_idx);
        const std::size_t count = as_size(majors.entries());
        return {majors, row_indices.subspan(first, count), column_indices.subspan(first, count),
                values.empty() ? values : values.subspan(first, count)};
    }

    /// Who owns which rows (by_rows) or columns (by_columns); equal rows if unsorted. O(parts).
    [[nodiscard]] row_partition owned() const {
        return order == coo_order::unsorted ? equal_rows(rows, parts())
                                            : owned_indices(major_ranges);
    }
};

/// The parts of the matrix, which is borrowed and must be valid. `order` is believed: the overload
/// without it finds it. O(parts), O(entries) if unsorted. `values` may be empty. Throws usage_error
/// if sizes disagree, and like make_sorted_major_ranges.
template <class T>
[[nodiscard]] pcoo<T>
make_pcoo(std::int64_t rows, std::int64_t columns, std::span<const std::int32_t> row_indices,
          std::span<const std::int32_t> column_indices, std::span<const T> values,
          const nonzero_partition& entries, coo_order order);
template <class T>
[[nodiscard]] pcoo<T> make_pcoo(std::int64_t rows, std::int64_t columns,
                                std::span<const std::int32_t> row_indices,
                                std::span<const std::int32_t> column_indices,
                                std::span<const T> values, const nonzero_partition& entries) {
    return make_pcoo(rows, columns, row_indices, column_indices, values, entries,
                     find_coo_order(row_indices, column_indices));
}

/// Throws naming the first violation: sizes agree, and the check of major_range.hpp for the order
/// (usage_error); major indices ascend if they should and are in range (input_error). O(entries).
template <class T>
void check(const pcoo<T>& parts);

} // namespace krylith
