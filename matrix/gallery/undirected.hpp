// Graphs that are given by a rule for the neighbours of a vertex.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>

namespace krylith {

/// Builds the matrix of a graph: neighbours_of(row) is a range of ascending columns with size();
/// the rule is called twice a row.
template <class T, class NeighboursOf>
csr_matrix<T> build_undirected(std::int64_t rows, std::uint64_t seed,
                               const NeighboursOf& neighbours_of) {
    const auto length = [&](std::int64_t row) { return neighbours_of(row).size(); };
    const auto fill = [&](std::int64_t row, std::int32_t* columns, T* values) {
        for (const std::int32_t column : neighbours_of(row)) {
            *columns++ = column;
            *values++ = static_cast<T>(edge_weight(seed, row, column));
        }
    };
    return build_by_rows<T>(rows, rows, length, fill);
}

} // namespace krylith
