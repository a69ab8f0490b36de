// What the mean length of rows says of a matrix.
#pragma once

#include <krylith/distributed/distributed_csr.hpp>

namespace krylith::detail {

/// Mean entries of a row up to which rows are short.
inline constexpr double short_rows = 12;

/// Whether rows are not those of a stencil along the axes: their aggregates are large as they are,
/// and Gershgorin's bound may be far from sharp.
template <class T>
bool has_long_rows(const distributed_csr<T>& a) {
    return static_cast<double>(a.nonzeros()) > short_rows * static_cast<double>(a.rows());
}

} // namespace krylith::detail
