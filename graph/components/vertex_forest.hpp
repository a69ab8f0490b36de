// Components as trees of vertices that grow together while many threads look at edges. A root is
// hooked below a smaller one (Shiloach, Vishkin, An O(log n) parallel connectivity algorithm, J.
// Algorithms 3, 1982) by compare-and-swap, and whoever walks up a path shortens it (pointer
// jumping; Jaiganesh, Burtscher, A high-performance connected components implementation for GPUs,
// HPDC 2018). So each edge is looked at once, whatever the diameter is.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith {

/// The trees: parents[v] is a vertex of v's component, v itself for a root and else a smaller one.
/// So the root of a finished tree is its least vertex, in whatever order threads came. Plain data
/// for kernels.
struct vertex_forest {
    std::int32_t* parents; ///< [vertices]

    /// Returns the root, and has each vertex on the way point to its parent's parent.
    [[nodiscard]] KRYLITH_HD std::int32_t root(std::int32_t v) const {
        std::int32_t parent = load_shared(parents + v);
        while (parent != v) {
            const std::int32_t above = load_shared(parents + parent);
            if (above != parent) store_shared(parents + v, above);
            v = parent;
            parent = above;
        }
        return v;
    }

    /// Makes one tree of those of u and v.
    KRYLITH_HD void unite(std::int32_t u, std::int32_t v) const {
        for (;;) {
            u = root(u);
            v = root(v);
            if (u == v) return;
            const std::int32_t greater = u > v ? u : v;
            const std::int32_t smaller = u > v ? v : u;
            // Another thread may have hooked the greater one in the meantime.
            const std::int32_t found = exchange_shared(parents + greater, greater, smaller);
            if (found == greater) return;
            u = found;
            v = smaller;
        }
    }
};

/// A tree for each vertex.
struct plant_task {
    std::int32_t* parents;
    KRYLITH_HD void operator()(std::int64_t v) const { parents[v] = static_cast<std::int32_t>(v); }
};

/// Unites the ends of each edge of a device's rows.
struct unite_edges_step : writes_only {
    vertex_forest forest;
    const std::int32_t* offsets; ///< [rows + 1]
    const std::int32_t* indices;
    std::int64_t first_row;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t row) const {
        return offsets[row] != offsets[row + 1];
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int lanes) const {
        for (std::int64_t k = std::int64_t{offsets[row]} + lane; k < offsets[row + 1]; k += lanes)
            forest.unite(static_cast<std::int32_t>(first_row + row), indices[k]);
        return 0;
    }
    [[nodiscard]] KRYLITH_HD bool finish(std::int64_t, std::uint32_t) const { return false; }
};

/// Takes over the trees of another device.
struct unite_trees_task {
    vertex_forest forest;
    const std::int32_t* parents; ///< [vertices] of the other
    KRYLITH_HD void operator()(std::int64_t v) const {
        if (parents[v] != v) forest.unite(static_cast<std::int32_t>(v), parents[v]);
    }
};

/// Writes the root of each vertex, once the trees are finished. It shortens no path on the way,
/// since that could undo what another thread has written.
struct write_roots_task {
    const std::int32_t* parents;
    std::int32_t* roots;
    KRYLITH_HD void operator()(std::int64_t v) const {
        std::int32_t root = parents[v];
        while (parents[root] != root) root = parents[root];
        roots[v] = root;
    }
};

} // namespace krylith
