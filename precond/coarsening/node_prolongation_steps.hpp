// Steps that make P = (I - omega D^-1 A) T of several near-null vectors: a row has as many
// entries for each aggregate that its node reaches as there are vectors.
#pragma once

#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/node_rows.hpp>

namespace krylith::aggregation {

/// The aggregates that a node reaches, ascending.
struct reached_aggregates {
    rank_rows nodes;
    const std::int32_t* aggregate; ///< of local columns of nodes
    bool smooth;                   ///< otherwise its own alone

    /// Calls body(aggregate) for each: the next larger one again and again.
    template <class Body>
    KRYLITH_HD void each(std::int64_t node, const Body& body) const {
        constexpr std::int32_t none = 0x7fffffff;
        const std::int32_t own = nodes.own(node);
        if (aggregate[own] < 0) return;
        if (!smooth) return body(aggregate[own]);
        for (std::int32_t last = -1;;) {
            std::int32_t next = none;
            for (std::int64_t k = nodes.offsets[node]; k < nodes.offsets[node + 1]; ++k) {
                const std::int32_t j = nodes.indices[k];
                const std::int32_t g = aggregate[j];
                if (g > last && g < next) next = g;
            }
            if (next == none) return;
            body(next);
            last = next;
        }
    }
};

struct count_reached_step : writes_only {
    reached_aggregates reached;
    std::int32_t* counts; ///< [nodes]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        std::int32_t count = 0;
        reached.each(node, [&](std::int32_t) { ++count; });
        counts[node] = count;
        return false;
    }
};

/// Where the entries of P are.
struct node_pattern {
    const std::int64_t* offsets = nullptr;    ///< [nodes + 1]
    const std::int32_t* aggregates = nullptr; ///< reached by nodes
    int block = 1;
    int vectors = 1;

    [[nodiscard]] KRYLITH_HD std::int64_t count(std::int64_t node) const {
        return offsets[node + 1] - offsets[node];
    }
    /// The first entry of a row.
    [[nodiscard]] KRYLITH_HD std::int64_t begin(std::int64_t row) const {
        const std::int64_t node = row / block;
        return vectors * (offsets[node] * block + row % block * count(node));
    }
};

struct list_reached_step : writes_only {
    reached_aggregates reached;
    const std::int64_t* offsets;
    std::int32_t* aggregates;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t node, std::uint32_t) const {
        std::int64_t to = offsets[node];
        reached.each(node, [&](std::int32_t g) { aggregates[to++] = g; });
        return false;
    }
};

/// The offsets of P, for rows [0, rows], and the global columns of its entries.
struct spread_pattern_step : writes_only {
    node_pattern pattern;
    std::int64_t rows;
    std::int64_t* offsets;
    std::int32_t* columns;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        if (row == rows) {
            offsets[row] = pattern.vectors * pattern.block * pattern.offsets[rows / pattern.block];
            return false;
        }
        const std::int64_t begin = pattern.begin(row);
        offsets[row] = begin;
        const std::int64_t node = row / pattern.block;
        const std::int32_t* const of = pattern.aggregates + pattern.offsets[node];
        for (std::int64_t p = 0; p < pattern.count(node); ++p)
            for (int c = 0; c < pattern.vectors; ++c)
                columns[begin + p * pattern.vectors + c] = of[p] * pattern.vectors + c;
        return false;
    }
};

/// The values of P; item i is vector i % vectors of row i / vectors.
template <class T>
struct fill_prolongation_step : writes_only {
    node_rows a;
    const T* values;
    reached_aggregates reached;
    node_pattern pattern;
    const T* diagonal;  ///< of A, [rows]
    const T* tentative; ///< [local columns][vectors]
    T omega;
    T* to;

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t item, std::uint32_t) const {
        const int k = pattern.vectors;
        const std::int64_t row = item / k;
        const auto c = static_cast<int>(item % k);
        const std::int64_t node = row / a.block;
        const std::int64_t count = pattern.count(node);
        if (count == 0) return false;
        T* const sums = to + pattern.begin(row) + c;
        const std::int32_t own = a.a.own(row);
        const T kept = tentative[std::int64_t{own} * k + c];
        if (!reached.smooth) {
            sums[0] = kept;
            return false;
        }
        for (std::int64_t p = 0; p < count; ++p) sums[p * k] = T(0);
        const std::int32_t* const of = pattern.aggregates + pattern.offsets[node];
        const std::int32_t own_node = reached.nodes.own(node);
        std::int64_t place = 0;
        for (std::int64_t e = a.a.offsets[row]; e < a.a.offsets[row + 1]; ++e) {
            const std::int32_t j = a.a.indices[e];
            const std::int32_t beside = a.node_of(j);
            const std::int32_t g = reached.aggregate[beside];
            if (g < 0) continue;
            while (of[place] != g) place = place + 1 == count ? 0 : place + 1;
            sums[place * k] =
                plus_product(sums[place * k], values[e], tentative[std::int64_t{j} * k + c]);
        }
        const T factor = omega / diagonal[row];
        const std::int32_t own_aggregate = reached.aggregate[own_node];
        for (std::int64_t p = 0; p < count; ++p)
            sums[p * k] = minus_product(of[p] == own_aggregate ? kept : T(0), factor, sums[p * k]);
        return false;
    }
};

} // namespace krylith::aggregation
