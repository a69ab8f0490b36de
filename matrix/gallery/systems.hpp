// Systems of equations: several unknowns a point, saddle points. See matrix/gallery.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Linear elasticity on a beam of nx by ny by nz cubes of side 1, trilinear hexahedra, Young's
/// modulus 1, clamped at x = 0 (those nodes are eliminated): 3 unknowns a node, together, nodes
/// with x fastest. The element integrals are those of the 2 x 2 x 2 Gauss rule, which is exact here
/// (Hughes, The Finite Element Method, 1987, sections 3.8 and 2.7). Symmetric positive definite;
/// the near kernel is that of the 6 rigid motions: A times one vanishes off the clamped end.
/// 3 nx (ny + 1) (nz + 1) rows; 9 (3 nx - 2) (3 ny + 1) (3 nz + 1) entries: all 9 of a pair of
/// nodes are stored, as finite-element codes do, those that are 0 by symmetry too.
/// poisson_ratio: 0 to 0.4999 (towards 0.5 the material locks).
template <class T>
[[nodiscard]] csr_matrix<T> elasticity3d(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                         double poisson_ratio = 0.3);

/// Where nodes are, node by node: as many values a node as there are dimensions, and as many rows.
struct node_coordinates {
    int dimension = 0;
    std::vector<double> values;
};

/// The nodes of elasticity3d(), whose cubes have side 1.
[[nodiscard]] node_coordinates elasticity3d_coordinates(std::int64_t nx, std::int64_t ny,
                                                        std::int64_t nz);

/// Optimality conditions of a control problem on the unit cube, steered from its surface:
///     minimise |y - y_d|^2 / 2 + alpha |u|^2 / 2, -Laplace y + y = 0, dy/dn = u on the surface,
/// alpha = 0.01, trilinear elements on n^3 nodes. In the order states y (n^3), controls u (n^2 on
/// each of 6 faces), adjoints (n^3):
///     [ W  0  K' ]   W, V: lumped masses, diagonal
///     [ 0  V  B' ]   K: stiffness and mass, 27 points
///     [ K  B  0  ]   B: mass of the faces, 9 points
/// Rows divided by h = 1 / (n - 1). Symmetric indefinite: n^3 + 6 n^2 positive eigenvalues, n^3
/// negative ones. 2 n^3 + 6 n^2 rows, 2 (3 n - 2)^3 + n^3 + 6 n^2 + 12 (3 n - 2)^2 entries: the
/// counts of SuiteSparse's nlpkkt80, 120, 160, 200 and 240 (Schenk, Waechter, Weiser,
/// Inertia-revealing preconditioning for large-scale nonconvex constrained optimization, SIAM J.
/// Sci. Comput. 31, 2008). Structure and problem are of that kind; the values are not theirs.
/// n: 2 to 1023.
template <class T>
[[nodiscard]] csr_matrix<T> nlpkkt(std::int64_t n);

/// Stokes flow in a box of nx by ny square cells with walls around, staggered (MAC) grid (Harlow,
/// Welch, Phys. Fluids 8, 1965): velocities u in the middle of vertical faces, v of horizontal
/// ones, pressures p in cells. In the order u, v, p:
///     [ L   G ]   L: 5-point Laplacian; 5 on the diagonal beside a parallel wall (6 between two)
///     [ G'  0 ]   G: differences, 1 and -1
/// times h^2, with h p as unknowns. The pressure of a closed box is determined up to a constant:
/// the last cell's is fixed to 0, and its equation, which the others imply, is left out. So the
/// matrix is regular: symmetric indefinite, one positive eigenvalue a velocity, one negative a
/// pressure, and the rows of pressures have no diagonal entry. nx, ny: 2 or more. 3 nx ny - nx - ny
/// - 1 rows; 18 nx ny - 13 (nx + ny) entries.
template <class T>
[[nodiscard]] csr_matrix<T> stokes2d(std::int64_t nx, std::int64_t ny);

} // namespace krylith
