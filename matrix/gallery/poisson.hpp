// Laplacians on grids, on which every solver is tried first. See matrix/gallery.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/gallery/random_scaling.hpp>

namespace krylith {

/// 3-point Laplacian: 2 on the diagonal, -1 to the neighbours. Symmetric positive definite; the
/// eigenvalues are 4 sin^2(i pi / (2 (n + 1))), i = 1..n. 3 n - 2 entries.
template <class T>
[[nodiscard]] csr_matrix<T> poisson1d(std::int64_t n, std::optional<random_scaling> scaling = {});

/// 5-point Laplacian: 4 on the diagonal, -1 to the neighbours. Symmetric positive definite; the
/// eigenvalues are 4 sin^2(i pi / (2 (nx + 1))) + 4 sin^2(j pi / (2 (ny + 1))), i = 1..nx, j =
/// 1..ny. 5 nx ny - 2 nx - 2 ny entries.
template <class T>
[[nodiscard]] csr_matrix<T> poisson2d(std::int64_t nx, std::int64_t ny,
                                      std::optional<random_scaling> scaling = {});

template <class T>
[[nodiscard]] csr_matrix<T> poisson2d(std::int64_t n, std::optional<random_scaling> scaling = {}) {
    return poisson2d<T>(n, n, scaling);
}

/// Compact 9-point Laplacian ("Mehrstellenverfahren": Collatz, The Numerical Treatment of
/// Differential Equations, 1960), times 6 h^2: 20 on the diagonal, -4 to the neighbours along the
/// axes, -1 to the diagonal ones. Symmetric positive definite; the eigenvalues are 36 - (4 + 2
/// cos(i pi / (nx + 1))) (4 + 2 cos(j pi / (ny + 1))). (3 nx - 2) (3 ny - 2) entries.
template <class T>
[[nodiscard]] csr_matrix<T> poisson2d_9point(std::int64_t nx, std::int64_t ny,
                                             std::optional<random_scaling> scaling = {});

/// 7-point Laplacian: 6 on the diagonal, -1 to the neighbours. Symmetric positive definite; the
/// eigenvalues are those of poisson2d with a third term, for z. 7 n - 2 (nx ny + ny nz + nz nx)
/// entries, n = nx ny nz.
template <class T>
[[nodiscard]] csr_matrix<T> poisson3d(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                      std::optional<random_scaling> scaling = {});

template <class T>
[[nodiscard]] csr_matrix<T> poisson3d(std::int64_t n, std::optional<random_scaling> scaling = {}) {
    return poisson3d<T>(n, n, n, scaling);
}

/// 27-point Laplacian: 26 on the diagonal, -1 to all points of the surrounding cube. Symmetric
/// positive definite; the eigenvalues are 27 - c(i, nx) c(j, ny) c(k, nz) with c(i, n) = 1 + 2
/// cos(i pi / (n + 1)). (3 nx - 2) (3 ny - 2) (3 nz - 2) entries.
template <class T>
[[nodiscard]] csr_matrix<T> poisson3d_27point(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                              std::optional<random_scaling> scaling = {});

template <class T>
[[nodiscard]] csr_matrix<T> poisson3d_27point(std::int64_t n,
                                              std::optional<random_scaling> scaling = {}) {
    return poisson3d_27point<T>(n, n, n, scaling);
}

} // namespace krylith
