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
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/coo_order.hpp>
#include <krylith/partition/pcsr.hpp>

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
/// Whether rows, or columns, have a pointer array.
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

/// The partition of the matrix's entries into the ranges `cuts`: pCSR, pCSC or pCOO. Where entries
/// are unsorted any of a range's may be in any row: each range has all rows, and none is shared or
/// owned. O(ranges log rows). Throws like make_pcsr and make_pcoo.
template <class T>
[[nodiscard]] pcsr split_nonzeros(const streamed_matrix<T>& a, const nonzero_partition& cuts);

/// A device gets a part of the entries, cut within rows where need be; the part is cut once more,
/// likewise, into ranges that are multiplied as they arrive. Range q belongs to part q / ranges.
struct streamed_plan {
    streamed_form form = streamed_form::csr;
    int ranges = 1;               ///< of a part; 1 unless by rows
    std::vector<int> device = {}; ///< of each part: its rank
    pcsr nonzeros = {};           ///< the parts
    pcsr streamed = {};           ///< the ranges of all parts
    row_partition results = {};   ///< rows of y that each part brings to their final value

    [[nodiscard]] int parts() const noexcept { return static_cast<int>(device.size()); }
    /// The ranges of a part.
    [[nodiscard]] std::span<const major_range> ranges_of(int part) const;

    friend bool operator==(const streamed_plan&, const streamed_plan&) = default;
};

/// Equal entries for each part, the parts of a NUMA node side by side (numa_partition.hpp), and for
/// each range. O(parts ranges log rows). Throws like split_nonzeros, usage_error unless ranges is
/// 1 to most_streamed_ranges.
template <class T>
[[nodiscard]] streamed_plan plan_streamed(const streamed_matrix<T>& a,
                                          std::span<const int> node_of_device, int ranges);

/// Throws usage_error naming the first violation: each device once; the check of pcsr.hpp for the
/// form, of parts and of ranges; the ranges of a part have its entries; results are a partition of
/// the rows, and by rows that of the owned ones. O(entries + (parts ranges)^2).
template <class T>
void check(const streamed_plan& plan, const streamed_matrix<T>& a);

} // namespace krylith
