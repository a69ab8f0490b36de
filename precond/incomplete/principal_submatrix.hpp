// Rows of a matrix in host memory, with the columns of the same numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::incomplete {

/// The rows outside of `owned` that these refer to, that those refer to, and so on, `rings` times;
/// ascending. O(entries of all these rows, and a sort of the rows).
template <class T>
[[nodiscard]] std::vector<std::int32_t> rows_around(const csr_view<T>& a, row_range owned,
                                                    int rings);

/// The rows and columns of `owned` and `around`, which ascend and are outside of it, in ascending
/// order. O(entries, and log(around) for those in other columns than owned ones).
template <class T>
[[nodiscard]] csr_matrix<T> principal_submatrix(const csr_view<T>& a, row_range owned,
                                                std::span<const std::int32_t> around);

} // namespace krylith::incomplete
