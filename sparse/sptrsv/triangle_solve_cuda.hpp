// Solves of triangles on CUDA devices.
#pragma once

#include <memory>

#include <krylith/sparse/sptrsv/triangle_solve.hpp>

namespace krylith::cuda {

/// make_triangle_solve() whose kernels, if their rows wait for each other, are launched with so
/// many blocks, for tests. Defined where KRYLITH_HAVE_CUDA is 1.
template <class T>
[[nodiscard]] std::unique_ptr<triangle_solve<T>>
make_triangle_solve(const device_csr<T>& a, const triangular_options& options, unsigned blocks);

} // namespace krylith::cuda
