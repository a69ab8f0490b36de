// Steps that make the matrix of nodes: one entry a block, its Frobenius norm.
#pragma once

#include <cmath>
#include <cstdint>

#include <krylith/precond/coarsening/node_rows.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/shared_numbers.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>

namespace krylith::aggregation {

struct count_blocks_step : writes_only {
    node_rows a;
    std::int32_t* counts; ///< [nodes]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        std::int32_t count = 0;
        a.each_node_column(
            node, [](std::int64_t) {}, [&](std::int32_t) { ++count; });
        counts[node] = count;
        return false;
    }
};

template <class T>
struct fill_blocks_step : writes_only {
    node_rows a;
    const T* values;
    const std::int64_t* offsets; ///< [nodes + 1]
    std::int32_t* columns;       ///< global nodes
    T* norms;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        std::int64_t to = offsets[node];
        double sum = 0;
        a.each_node_column(
            node,
            [&](std::int64_t k) {
                const auto value = static_cast<double>(values[k]);
                sum = plus_product(sum, value, value);
            },
            [&](std::int32_t column) {
                columns[to] = column;
                norms[to++] = static_cast<T>(std::sqrt(sum));
                sum = 0;
            });
        return false;
    }
};

/// Filters rows by the couplings of nodes: weak entries are added to the diagonal where they are of
/// the row's own unknown, so that A_F maps a constant of one unknown where A does.
template <class T>
struct filter_blocks_step : writes_only {
    node_rows a;
    rank_rows nodes; ///< with couplings
    const T* values;
    filtered_rows<T> result; ///< without `diagonal`

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const std::int32_t own = a.a.own(row);
        const std::int64_t begin = a.a.offsets[row];
        const std::int64_t end = a.a.offsets[row + 1];
        T diagonal = T(0);
        for (std::int64_t k = begin; k < end; ++k)
            if (a.a.indices[k] == own) diagonal = values[k];
        const T inverse = T(1) / diagonal;
        const std::int64_t node = row / a.block;
        const std::int32_t own_node = nodes.own(node);
        const auto unknown = static_cast<std::int32_t>(row % a.block);
        std::int64_t of_node = nodes.offsets[node];
        row_sums sums;
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int32_t j = a.a.indices[k];
            if (j == own) continue;
            const std::int32_t beside = a.node_of(j);
            while (nodes.indices[of_node] < beside) ++of_node;
            if (beside == own_node || nodes.couplings[of_node] != 0)
                sums.add_strong(std::fabs(values[k] * inverse));
            else if (a.a.columns.global(j) % a.block == unknown)
                sums.add_weak(values[k] * inverse);
        }
        result.write(row, diagonal, sums);
        return false;
    }
};

} // namespace krylith::aggregation
