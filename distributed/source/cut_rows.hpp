// Whether rows can be cut out of the arrays of a matrix that nobody has validated.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Whether the arrays have the right sizes, and each rank's rows a range of them: what devices then
/// find wrong is within a rank's rows. O(ranks).
template <class T>
[[nodiscard]] bool can_be_cut(const csr_view<T>& matrix, const row_partition& rows) {
    const auto& offsets = matrix.row_offsets;
    const auto nonzeros = static_cast<std::int64_t>(matrix.column_indices.size());
    if (offsets.empty() || static_cast<std::int64_t>(offsets.size()) - 1 != matrix.rows ||
        matrix.values.size() != matrix.column_indices.size() || matrix.columns < 0 ||
        matrix.columns > index_size_limit() || offsets.front() != 0 || offsets.back() != nonzeros ||
        rows.rows() != matrix.rows)
        return false;
    for (std::size_t k = 1; k < rows.begin.size(); ++k) {
        const std::int64_t begin = offsets[as_size(rows.begin[k - 1])];
        const std::int64_t end = offsets[as_size(rows.begin[k])];
        if (begin < 0 || end < begin || end > nonzeros) return false;
    }
    return true;
}

} // namespace krylith
