// A symmetric or skew-symmetric matrix from the half that a file gives.
#pragma once

#include <cstdint>
#include <optional>

#include <krylith/matrix/csr.hpp>

namespace krylith::market {

/// A place of the matrix, counted from 0.
struct place {
    std::int64_t row;
    std::int64_t column;
};

/// The whole matrix, or a place that the half gives as (row, column) and as (column, row), which
/// makes the matrix meaningless.
template <class T>
struct mirrored {
    csr_matrix<T> matrix;
    std::optional<place> given_twice;
};

/// Adds sign * half(i, j) at (j, i) for every entry off the diagonal. The half is canonical and
/// square; its entries may lie on either side of the diagonal. The result is canonical. O(rows +
/// entries) for a lower or an upper half, plus a sort of the rows for a mixture. Memory beside the
/// argument: the result and 8 bytes a row.
template <class T>
[[nodiscard]] mirrored<T> mirror(const csr_matrix<T>& half, T sign);

} // namespace krylith::market
