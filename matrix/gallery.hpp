// Test matrices by formula, built in parallel and reproducible to the bit.
//
// Grids number their points with x fastest, then y, then z: row (z ny + y) nx + x. Equations are
// scaled by h^2 (no 1/h^2 in the entries), and the boundary, where u = 0, is eliminated: all points
// are unknowns, and neighbours outside the grid are dropped. Results are canonical.
//
// `random_scaling`, where given, is the seed of a diagonal D with entries in [0.5, 1.5): the result
// is D A D. It keeps pattern, symmetry and definiteness, but no two values are alike: a kernel
// can't profit from a constant stencil.
//
// All throw usage_error for an argument out of range and input_error for a matrix that the memory
// can't hold. O(nnz); memory: the result.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <krylith/matrix/csr.hpp>

namespace krylith {

struct random_scaling {
    std::uint64_t seed = 0;
};

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

/// Convection-diffusion -Laplace u + peclet (u_x + u_y + u_z) = f on the unit cube, n points an
/// axis, first-order upwind differences, times h^2 with h = 1 / (n + 1). With p = peclet h:
/// 6 + 3 p on the diagonal, -(1 + p) to the lower neighbour in each direction, -1 to the upper one.
/// Not symmetric unless peclet = 0 (then poisson3d); an M-matrix; the eigenvalues are real,
/// 6 + 3 p - 2 sqrt(1 + p) (cos(i pi h) + cos(j pi h) + cos(k pi h)). peclet: finite, not negative.
template <class T>
[[nodiscard]] csr_matrix<T> convection_diffusion(std::int64_t n, double peclet,
                                                 std::optional<random_scaling> scaling = {});

/// Random symmetric positive definite matrix without structure: the off-diagonal places are the
/// union of nnz_per_row - 1 random pairings of the rows, their values uniform in [-1, 1); the
/// diagonal is 1 + the sum of the row's other magnitudes, so all eigenvalues are at least 1. A row
/// has nnz_per_row entries, less where pairings coincide (small n) or leave it over (odd n).
/// nnz_per_row: 1 to 256.
template <class T>
[[nodiscard]] csr_matrix<T> random_spd(std::int64_t n, std::int64_t nnz_per_row,
                                       std::uint64_t seed);

/// A matrix of the gallery that make_gallery knows.
struct gallery_entry {
    std::string_view name;
    std::string_view arguments; ///< "NX[:NY]"
    std::string_view help;      ///< one line
};

/// All of them, sorted by name.
[[nodiscard]] std::span<const gallery_entry> gallery_names();

/// A matrix by its name and arguments: "poisson3d:64", "poisson2d:100:50:random=7" (random=SEED is
/// random_scaling). Throws usage_error for an unknown name, naming the nearest, and for arguments
/// that are too few, too many or out of range, naming the argument.
template <class T>
[[nodiscard]] csr_matrix<T> make_gallery(std::string_view spec);

extern template csr_matrix<double> poisson2d(std::int64_t, std::int64_t,
                                             std::optional<random_scaling>);
extern template csr_matrix<float> poisson2d(std::int64_t, std::int64_t,
                                            std::optional<random_scaling>);
extern template csr_matrix<double> poisson3d(std::int64_t, std::int64_t, std::int64_t,
                                             std::optional<random_scaling>);
extern template csr_matrix<float> poisson3d(std::int64_t, std::int64_t, std::int64_t,
                                            std::optional<random_scaling>);
extern template csr_matrix<double> poisson3d_27point(std::int64_t, std::int64_t, std::int64_t,
                                                     std::optional<random_scaling>);
extern template csr_matrix<float> poisson3d_27point(std::int64_t, std::int64_t, std::int64_t,
                                                    std::optional<random_scaling>);
extern template csr_matrix<double> convection_diffusion(std::int64_t, double,
                                                        std::optional<random_scaling>);
extern template csr_matrix<float> convection_diffusion(std::int64_t, double,
                                                       std::optional<random_scaling>);
extern template csr_matrix<double> random_spd(std::int64_t, std::int64_t, std::uint64_t);
extern template csr_matrix<float> random_spd(std::int64_t, std::int64_t, std::uint64_t);
extern template csr_matrix<double> make_gallery(std::string_view);
extern template csr_matrix<float> make_gallery(std::string_view);

} // namespace krylith
