// Rows of a rank in groups: a node has `block` consecutive rows and columns.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// The most unknowns of a node, and the most near-null vectors.
inline constexpr int most_of_node = 12;

/// The rows of a matrix by nodes, all of whose rows are on the rank. Local columns of nodes have
/// the order of those of rows.
struct node_rows {
    rank_rows a;                      ///< rows; without couplings
    column_numbers node_columns = {}; ///< not needed by each_node_column
    int block = 1;

    [[nodiscard]] KRYLITH_HD std::int32_t global_node(std::int32_t column) const {
        return a.columns.global(column) / block;
    }
    /// The local number of the node of a local column.
    [[nodiscard]] KRYLITH_HD std::int32_t node_of(std::int32_t column) const {
        if (a.columns.owns(column)) return node_columns.below + (column - a.columns.below) / block;
        return node_columns.local(global_node(column));
    }

    /// Whether every `lanes`-th entry of the node's rows lies where it does in rows that consist of
    /// dense blocks.
    [[nodiscard]] KRYLITH_HD bool dense(std::int64_t node, int lane, int lanes) const {
        const std::int64_t* const of = a.offsets + node * block;
        const std::int64_t length = of[1] - of[0];
        if (length % block != 0) return false;
        for (int i = 1; i < block; ++i)
            if (of[i + 1] - of[i] != length) return false;
        for (std::int64_t k = lane; k < length; k += lanes) {
            const auto at = static_cast<std::int32_t>(k % block);
            const std::int32_t first = a.columns.global(a.indices[of[0] + k - at]);
            if (first % block != 0) return false;
            for (int i = 0; i < block; ++i)
                if (a.columns.global(a.indices[of[i] + k]) != first + at) return false;
        }
        return true;
    }

    /// Calls visit(entry) for the entries of a node's rows, node by node in
    /// ascending order, and done(global node) after the last of each.
    template <class Visit, class Done>
    KRYLITH_HD void each_node_column(std::int64_t node, const Visit& visit,
                                     const Done& done) const {
        constexpr std::int32_t none = 0x7fffffff;
        std::int64_t at[most_of_node];
        for (int i = 0; i < block; ++i) at[i] = a.offsets[node * block + i];
        for (;;) {
            std::int32_t next = none;
            for (int i = 0; i < block; ++i) {
                if (at[i] == a.offsets[node * block + i + 1]) continue;
                const std::int32_t first = global_node(a.indices[at[i]]);
                next = first < next ? first : next;
            }
            if (next == none) return;
            for (int i = 0; i < block; ++i)
                while (at[i] < a.offsets[node * block + i + 1] &&
                       global_node(a.indices[at[i]]) == next)
                    visit(at[i]++);
            done(next);
        }
    }
};

} // namespace krylith::aggregation
