// Solves of triangles on host devices.
#pragma once

#include <memory>

#include <krylith/sparse/sptrsv/triangle_solve.hpp>

namespace krylith::host {

/// A level of so many rows is worth a barrier of the team.
inline constexpr std::int64_t wide_level = 512;

/// make_triangle_solve() with another width, for tests.
template <class T>
[[nodiscard]] std::unique_ptr<triangle_solve<T>>
make_triangle_solve(const device_csr<T>& a, const triangular_options& options, std::int64_t wide);

} // namespace krylith::host
