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

/// Finds the diagonal, and Gershgorin's bound of D^-1 A. Nothing of A is left out where P is
/// smoothed: it could not go to the diagonal so that A keeps several vectors.
template <class T>
struct bound_rows_step {
    rank_rows a;
    const T* values;
    filtered_rows<T> result; ///< without `diagonal`

    using part_type = row_sums;
    KRYLITH_HD static row_sums join(const row_sums& one, const row_sums& other) {
        return row_sums::join(one, other);
    }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD row_sums part(std::int64_t row, int lane, int lanes) const {
        const std::int32_t own = a.own(row);
        const T inverse = T(1) / diagonal(row);
        row_sums sums;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes)
            if (a.indices[k] != own) sums.add_kept(std::fabs(values[k] * inverse));
        return sums;
    }
    KRYLITH_HD bool finish(std::int64_t row, const row_sums& sums) const {
        result.write(row, diagonal(row), sums);
        return false;
    }

private:
    [[nodiscard]] KRYLITH_HD T diagonal(std::int64_t row) const {
        const std::int64_t end = a.offsets[row + 1];
        const std::int64_t k = place_of(a.indices, a.offsets[row], end, a.own(row));
        return k < end && a.indices[k] == a.own(row) ? values[k] : T(0);
    }
};

} // namespace krylith::aggregation
