// Steps that make the matrix of nodes: one entry a block, its Frobenius norm.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>

namespace krylith::aggregation {

/// Counts the blocks of a node, and says whether all are dense: lanes can share the entries of
/// these.
struct count_blocks_step {
    node_rows a;
    std::uint8_t* dense;  ///< [nodes]
    std::int32_t* counts; ///< [nodes]

    using part_type = std::uint32_t; ///< 1 where a block is not dense
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t other) {
        return one | other;
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t node, int lane, int lanes) const {
        return a.dense(node, lane, lanes) ? 0 : 1;
    }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t sparse) const {
        dense[node] = sparse == 0 ? 1 : 0;
        const std::int64_t row = node * a.block;
        auto count = static_cast<std::int32_t>((a.a.offsets[row + 1] - a.a.offsets[row]) / a.block);
        if (sparse != 0) {
            count = 0;
            a.each_node_column(
                node, [](std::int64_t) {}, [&](std::int32_t) { ++count; });
        }
        counts[node] = count;
        return false;
    }
};

/// Writes the columns and norms of blocks.
template <class T>
struct fill_blocks_step {
    node_rows a;
    const T* values;
    const std::uint8_t* dense;
    const std::int64_t* offsets; ///< [nodes + 1]
    std::int32_t* columns;       ///< global nodes
    T* norms;

    using part_type = std::uint32_t;
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t) { return one; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    /// Dense blocks: every `lanes`-th.
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t node, int lane, int lanes) const {
        if (dense[node] == 0) return 0;
        const std::int64_t to = offsets[node];
        const std::int64_t count = offsets[node + 1] - to;
        for (std::int64_t p = lane; p < count; p += lanes) {
            const std::int64_t first = a.a.offsets[node * a.block] + p * a.block;
            double sum = 0;
            for (int i = 0; i < a.block; ++i)
                for (int j = 0; j < a.block; ++j) add(first + i * count * a.block + j, sum);
            columns[to + p] = a.global_node(a.a.indices[first]);
            norms[to + p] = static_cast<T>(std::sqrt(sum));
        }
        return 0;
    }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        if (dense[node] != 0) return false;
        std::int64_t to = offsets[node];
        double sum = 0;
        a.each_node_column(
            node, [&](std::int64_t k) { add(k, sum); },
            [&](std::int32_t column) {
                columns[to] = column;
                norms[to++] = static_cast<T>(std::sqrt(sum));
                sum = 0;
            });
        return false;
    }

private:
    KRYLITH_HD void add(std::int64_t k, double& sum) const {
        const auto value = static_cast<double>(values[k]);
        sum = plus_product(sum, value, value);
    }
};

/// Filters rows by the couplings of nodes: weak entries are added to the diagonal where they are of
/// the row's own unknown, so that A_F maps a constant of one unknown where A does.
template <class T>
struct filter_blocks_step {
    node_rows a;
    rank_rows nodes; ///< with couplings
    const T* values;
    filtered_rows<T> result; ///< without `diagonal`

    using part_type = row_sums;
    KRYLITH_HD static row_sums join(const row_sums& one, const row_sums& other) {
        return row_sums::join(one, other);
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD row_sums part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.a.own(row);
        const std::int64_t begin = a.a.offsets[row];
        const std::int64_t end = a.a.offsets[row + 1];
        const T inverse = T(1) / diagonal(row);
        const std::int64_t node = row / a.block;
        const std::int32_t own_node = nodes.own(node);
        const auto unknown = static_cast<std::int32_t>(row % a.block);
        row_sums sums;
        for (std::int64_t k = begin + lane; k < end; k += lanes) {
            const std::int32_t j = a.a.indices[k];
            if (j == own) continue;
            const std::int32_t beside = a.node_of(j);
            if (beside == own_node || couples(node, beside, (k - begin) / a.block))
                sums.add_strong(std::fabs(values[k] * inverse));
            else if (a.a.columns.global(j) % a.block == unknown)
                sums.add_weak(values[k] * inverse);
        }
        return sums;
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_sums& sums) const {
        result.write(row, diagonal(row), sums);
        return false;
    }

private:
    [[nodiscard]] KRYLITH_HD T diagonal(std::int64_t row) const {
        const std::int64_t end = a.a.offsets[row + 1];
        const std::int64_t k = place_of(a.a.indices, a.a.offsets[row], end, a.a.own(row));
        return k < end && a.a.indices[k] == a.a.own(row) ? values[k] : T(0);
    }
    /// Whether a node is coupled with one beside it, which is its `guess`-th where blocks are
    /// dense.
    [[nodiscard]] KRYLITH_HD bool couples(std::int64_t node, std::int32_t beside,
                                          std::int64_t guess) const {
        const std::int64_t begin = nodes.offsets[node];
        const std::int64_t end = nodes.offsets[node + 1];
        std::int64_t at = begin + guess;
        if (at >= end || nodes.indices[at] != beside)
            at = place_of(nodes.indices, begin, end, beside);
        return nodes.couplings[at] != 0;
    }
};

} // namespace krylith::aggregation
