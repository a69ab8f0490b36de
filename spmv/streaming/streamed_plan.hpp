// Which entries, rows and domain vector each device has in a streamed product
// (streamed_product.hpp), and where its results go: arithmetic of the host, no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/numa.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csc.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/nonzero/major_range.hpp>
#include <krylith/partition/nonzero/pcoo.hpp>
#include <krylith/partition/nonzero/shared_major.hpp>

namespace krylith {

/// How the entries of a matrix lie.
enum class streamed_form { csr, csc, coo_by_rows, coo_by_columns, coo_unsorted };

/// "csr", "csc", "coo by rows", "coo by columns", "coo unsorted".
[[nodiscard]] const char* to_string(streamed_form form) noexcept;

[[nodiscard]] constexpr streamed_form form_of(coo_order order) noexcept {
    return order == coo_order::by_rows      ? streamed_form::coo_by_rows
           : order == coo_order::by_columns ? streamed_form::coo_by_columns
                                            : streamed_form::coo_unsorted;
}
/// Whether results of a range of entries are a range of rows. If not, they are as long as y.
[[nodiscard]] constexpr bool by_rows(streamed_form form) noexcept {
    return form == streamed_form::csr || form == streamed_form::coo_by_rows;
}
/// Whether a range of entries needs a range of x only.
[[nodiscard]] constexpr bool by_columns(streamed_form form) noexcept {
    return form == streamed_form::csc || form == streamed_form::coo_by_columns;
}
/// Whether lines have a pointer array.
[[nodiscard]] constexpr bool compressed(streamed_form form) noexcept {
    return form == streamed_form::csr || form == streamed_form::csc;
}

/// A matrix in any of the forms, in arrays of the caller.
template <class T>
struct streamed_matrix {
    streamed_form form = streamed_form::csr;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::span<const std::int64_t> offsets = {};        ///< of rows (csr), columns (csc), or none
    std::span<const std::int32_t> row_indices = {};    ///< none of csr
    std::span<const std::int32_t> column_indices = {}; ///< none of csc
    std::span<const T> values = {};

    /// Lines are rows, or columns where entries lie by these.
    [[nodiscard]] std::int64_t major_size() const noexcept {
        return by_columns(form) ? columns : rows;
    }
    [[nodiscard]] std::span<const std::int32_t> major_indices() const noexcept {
        return by_columns(form) ? column_indices : row_indices;
    }
    [[nodiscard]] std::int64_t entries() const noexcept {
        return static_cast<std::int64_t>(values.size());
    }
};

template <class T>
[[nodiscard]] streamed_matrix<T> streamed_matrix_of(const csr_view<T>& a) {
    return {streamed_form::csr, a.rows, a.columns, a.row_offsets, {}, a.column_indices, a.values};
}
template <class T>
[[nodiscard]] streamed_matrix<T> streamed_matrix_of(const csc_view<T>& a) {
    return {streamed_form::csc, a.rows, a.columns, a.column_offsets, a.row_indices, {}, a.values};
}
template <class T>
[[nodiscard]] streamed_matrix<T> streamed_matrix_of(const coo_view<T>& a, coo_order order) {
    return {form_of(order), a.rows, a.columns, {}, a.row_indices, a.column_indices, a.values};
}

/// Throws input_error naming sizes that disagree, or that 32-bit indices can't address. O(1).
template <class T>
void check_sizes(const streamed_matrix<T>& a);

inline constexpr int most_streamed_ranges = 4;

/// A part a device, and each cut into equally many pieces, which can be multiplied as they arrive.
/// Piece q belongs to part q / pieces.
struct streamed_plan {
    streamed_form form = streamed_form::csr;
    int ranges = 1;                             ///< of a part; 1 unless by rows
    std::vector<int> device = {};               ///< of each part: its rank
    std::vector<major_range> major_ranges = {}; ///< one a piece
    /// Rows of y that each piece (by rows) or part (otherwise) brings to their final value.
    row_partition results = {};
    std::vector<int> last =
        {}; ///< by rows: the last piece with a share of piece q's last row, or q

    [[nodiscard]] int parts() const noexcept { return static_cast<int>(device.size()); }
    /// Entries, and lines of them, of all pieces of a part; start_flag is that of the first.
    [[nodiscard]] major_range majors(int part) const;
    /// Rows of y that the part brings to their final value.
    [[nodiscard]] row_range results_of(int part) const;

    friend bool operator==(const streamed_plan&, const streamed_plan&) = default;
};

/// Equal entries for each part, the parts of a NUMA node side by side (numa_partition.hpp).
/// O(parts pieces log lines): the lines of unsorted entries are not looked for. Throws like
/// make_major_ranges and make_sorted_major_ranges, usage_error unless pieces is 1 to
/// most_streamed_ranges.
template <class T>
[[nodiscard]] streamed_plan plan_streamed(const streamed_matrix<T>& a,
                                          std::span<const int> node_of_device, int ranges);

/// Equal lines for each part, in the order of ranks: what a simple program does. Equal entries if
/// unsorted. O(parts log lines). Throws likewise.
template <class T>
[[nodiscard]] streamed_plan plan_equal_majors(const streamed_matrix<T>& a, int parts);

/// Throws usage_error naming the first violation: each device once; the check of major_range.hpp
/// for the form; results are a partition of the rows, and by rows that of the owned lines; the
/// last pieces are those of shared_indices. O(parts pieces + entries).
template <class T>
void check(const streamed_plan& plan, const streamed_matrix<T>& a);

} // namespace krylith
