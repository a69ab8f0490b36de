// Rows of a matrix in host memory, with the columns of the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/halo/index_map.hpp>

namespace krylith::incomplete {

/// The rows outside of `owned` that these refer to, that those refer to, and so on, `rings` times;
/// ascending. O(entries of all these rows, and a sort of the rows).
template <class T>
[[nodiscard]] std::vector<std::int32_t> rows_around(const csr_view<T>& a, row_range owned,
                                                    int rings);

/// These rows of a matrix and the columns of the same numbers, in the order of local indices.
/// O(entries, and log(ghosts) for those in columns that are not owned).
template <class T>
[[nodiscard]] csr_matrix<T> principal_submatrix(const csr_view<T>& a, const local_indices& rows);

} // namespace krylith::incomplete
