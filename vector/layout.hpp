// How a vector is spread over the devices of a group.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <krylith/device/device_group.hpp>
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
    device_group group;
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
    return a == b || (a->kind == b->kind && a->order == b->order && a->group == b->group &&
                      a->rows == b->rows);
}

} // namespace krylith
