// How a vector is spread over the devices of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <krylith/comm/communicator.hpp>
#include <krylith/partition/ordering/reordering.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

enum class coherence {
    owned,     ///< each device holds its own rows (and ghosts, valid after an exchange)
    replicated ///< each device holds all n entries, all of them valid
};

/// A layout is shared by all vectors of an operator. Element-wise work runs on every entry held;
/// dot products count owned rows only.
struct layout {
    communicator comm;
    row_partition rows;
    coherence kind = coherence::owned;
    /// The order of rows that the operator uses in place of the caller's; null if it uses the
    /// caller's. Vectors lie on the devices in the operator's order; uploads take and downloads
    /// give the caller's.
    std::shared_ptr<const permutation> order = nullptr;

    [[nodiscard]] std::int64_t size() const { return rows.rows(); }

    /// The number of entries held on a device, ghosts not counted.
    [[nodiscard]] std::int64_t held(int rank) const {
        return kind == coherence::replicated ? rows.rows() : rows.owned(rank).size();
    }

    /// The caller's number of a row of the operator.
    [[nodiscard]] std::int64_t row_of_caller(std::int64_t row) const {
        return order ? order->source[static_cast<std::size_t>(row)] : row;
    }

    /// The place of the first owned row among the entries held.
    [[nodiscard]] std::int64_t first_owned(int rank) const {
        return kind == coherence::replicated ? rows.owned(rank).begin : 0;
    }
};

using layout_handle = std::shared_ptr<const layout>;

/// Whether vectors of the two layouts lie in the same way on the same devices: the layouts are one,
/// or have the same group, rows, kind and (one and the same) order. O(ranks).
[[nodiscard]] inline bool same_layout(const layout_handle& a, const layout_handle& b) {
    return a == b ||
           (a->kind == b->kind && a->order == b->order && a->comm == b->comm && a->rows == b->rows);
}

/// The layouts of the two vectors of a product y = A x. A vector belongs to a layout by its handle,
/// not by what the layout says; operators that share handles can be chained without copies.
struct operator_layouts {
    layout_handle domain; ///< of x: its rows are columns of A
    layout_handle range;  ///< of y

    /// Whether x and y are of one layout, as solvers need it.
    [[nodiscard]] bool square() const { return domain == range; }
};

/// Makes the layouts of a matrix whose rows and columns are partitioned like this: one handle where
/// both partitions are the same. `order` is that of rows and columns, null for the caller's.
[[nodiscard]] operator_layouts make_layouts(const communicator& comm, row_partition rows,
                                            row_partition columns, coherence kind,
                                            std::shared_ptr<const permutation> order = nullptr);

/// Returns the layout of vectors of `columns` columns that lie row by row: entry (i, j) is number i
/// columns + j. Throws usage_error where the layout has an order of rows.
[[nodiscard]] layout_handle in_columns(const layout_handle& single, int columns);

/// Returns the layout of x and y = A x where they have one. Throws usage_error otherwise: "WHO
/// needs a square matrix; A is M x N".
[[nodiscard]] const layout_handle& square_layout(const operator_layouts& layouts,
                                                 std::string_view who);

} // namespace krylith
