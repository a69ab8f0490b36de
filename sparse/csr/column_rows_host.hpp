// Rows of a matrix times several columns on host devices.
#pragma once

#include <cstdint>

#include <krylith/sparse/csr/compressed_rows.hpp>

namespace krylith::host {

/// The values of a product that are made before they are used: they stay in the nearest cache.
inline constexpr std::int64_t product_values = 1024;

/// Rows [begin, end) of A times k columns of x, row by row into `to` (column_counts.hpp).
template <class T>
void multiply_rows(const compressed_rows<T>& a, int columns, const T* x, std::int64_t begin,
                   std::int64_t end, T* to);

} // namespace krylith::host
