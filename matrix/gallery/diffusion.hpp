// Elliptic problems that are harder than Laplace's. See matrix/gallery.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/gallery/random_scaling.hpp>

namespace krylith {

/// -div(C grad u) on n x n points, C = Q diag(1, epsilon) Q' with Q the rotation by `degrees`:
/// bilinear finite elements, 9 points, as in Trottenberg, Oosterlee, Schueller, Multigrid (2001),
/// section 5.1, and the chapters on algebraic multigrid that use it. With a, b, c the entries of C
/// (a for x, c for y, b off the diagonal): 4/3 (a + c) on the diagonal, (c - 2 a) / 3 to the
/// neighbours in x, (a - 2 c) / 3 in y, -(a + c) / 6 -+ b / 2 to those along and against the main
/// diagonal. Symmetric positive definite; for degrees = 0 the eigenvalues are s_i m_j + epsilon m_i
/// s_j with s_i = 2 - 2 cos(i pi / (n + 1)), m_i = (4 + 2 cos(i pi / (n + 1))) / 6. (3 n - 2)^2
/// entries. epsilon: 1e-12 to 1e12; degrees: -360 to 360.
template <class T>
[[nodiscard]] csr_matrix<T> anisotropic_diffusion(std::int64_t n, double epsilon,
                                                  double degrees = 0,
                                                  std::optional<random_scaling> scaling = {});

/// -u_xx - u_yy - epsilon u_zz on n^3 points of the unit cube, 7 points, times h^2: 4 + 2 epsilon
/// on the diagonal, -1 to the neighbours in x and y, -epsilon to those in z. Symmetric positive
/// definite; epsilon = 1 is poisson3d. The eigenvalues are those of poisson3d with the terms of z
/// times epsilon. epsilon: 1e-12 to 1e12.
template <class T>
[[nodiscard]] csr_matrix<T> anisotropic3d(std::int64_t n, double epsilon,
                                          std::optional<random_scaling> scaling = {});

/// Convection-diffusion -Laplace u + peclet (u_x + u_y + u_z) = f on the unit cube, n points an
/// axis, first-order upwind differences, times h^2 with h = 1 / (n + 1). With p = peclet h:
/// 6 + 3 p on the diagonal, -(1 + p) to the lower neighbour in each direction, -1 to the upper one.
/// Not symmetric unless peclet = 0 (then poisson3d); an M-matrix; the eigenvalues are real,
/// 6 + 3 p - 2 sqrt(1 + p) (cos(i pi h) + cos(j pi h) + cos(k pi h)). peclet: finite, not negative.
template <class T>
[[nodiscard]] csr_matrix<T> convection_diffusion(std::int64_t n, double peclet,
                                                 std::optional<random_scaling> scaling = {});

/// Helmholtz' equation -Laplace u - k^2 u = f on the unit square, n x n points, 5-point stencil:
/// poisson2d - (k h)^2 I, h = 1 / (n + 1), k = wave_number. Symmetric; the eigenvalues are those of
/// poisson2d less (k h)^2, so indefinite for k^2 above about 2 pi^2 (and singular where k hits
/// one). A wave has 2 pi / (k h) points; fewer than 10 don't resolve it. wave_number: 0 to 1e9. Why
/// it is hard: Ernst, Gander, Why it is difficult to solve Helmholtz problems with classical
/// iterative methods (2012).
template <class T>
[[nodiscard]] csr_matrix<T> helmholtz2d(std::int64_t n, double wave_number,
                                        std::optional<random_scaling> scaling = {});

/// The same on the unit cube: poisson3d - (k h)^2 I; indefinite for k^2 above about 3 pi^2.
template <class T>
[[nodiscard]] csr_matrix<T> helmholtz3d(std::int64_t n, double wave_number,
                                        std::optional<random_scaling> scaling = {});

/// -div(c grad u) on n^3 cells of the unit cube, u = 0 on its surface, c = 1 or kappa by blocks of
/// `block`^3 cells: a checkerboard, or, with a seed, kappa in a random half of the blocks. Finite
/// volumes: an entry to a neighbour is minus the harmonic mean of the two cells' c (Patankar,
/// Numerical Heat Transfer and Fluid Flow, 1980, section 4.2-3), at the surface the diagonal has 2
/// c. Symmetric positive definite with a condition number that grows as kappa does; kappa = 1 has
/// the eigenvalues 4 sin^2(i pi / (2 n)) + ..., i, j, k = 1..n. As many entries as poisson3d.
/// kappa: 1e-30 to 1e30; block: 1 to n.
template <class T>
[[nodiscard]] csr_matrix<T> jump_diffusion(std::int64_t n, double kappa, std::int64_t block,
                                           std::optional<std::uint64_t> seed = {});

/// The same with a coefficient of its own for each cell, 2^k (1 + u) with u uniform in [0, 1) and k
/// in the integers below log2(contrast): about uniform on a logarithmic scale, and without any
/// smoothness. contrast: 2 to 1e30; the largest power of two that is no larger is what counts.
template <class T>
[[nodiscard]] csr_matrix<T> rough_diffusion(std::int64_t n, double contrast, std::uint64_t seed);

} // namespace krylith
