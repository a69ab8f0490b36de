// The gallery's problems on grids.
#include <krylith/matrix/gallery/recipe.hpp>

#include <algorithm>
#include <array>

namespace krylith {
namespace {

/// The recipe of a generator that takes NX[:NY:NZ].
template <class Generate>
auto build_box(const gallery_spec& s, const Generate& generate) {
    const std::int64_t nx = s.size(0, "NX");
    if (s.count() == 2) {
        s.refuse("NY without NZ, allowed are NX and NX:NY:NZ");
    }
    const std::int64_t ny = s.size_or(nx, 1, "NY");
    const std::int64_t nz = s.size_or(nx, 2, "NZ");
    return generate(nx, ny, nz, s.random());
}

} // namespace

std::span<const recipe> grid_recipes() {
    static const std::array recipes{
        make_recipe(
            {"anisotropic3d", "Diffusion and waves", "N:EPSILON[:random=SEED]",
             "diffusion on N^3 points, EPSILON times weaker in z",
             "Symmetric positive definite. 7 N^3 - 6 N^2 nonzeros. -u_xx - u_yy - EPSILON u_zz on "
             "the unit cube; see Trottenberg, Oosterlee, Schueller, Multigrid, 2001, section 5.1. "
             "random=SEED scales it to D A D, D random in [0.5, 1.5).",
             "6:1e-3"},
            2, 2,
            []<class T>(const gallery_spec& s) {
                return anisotropic3d<T>(s.size(0, "N"), s.number(1, "EPSILON", 1e-12, 1e12),
                                        s.random());
            }),
        make_recipe(
            {"anisotropic_diffusion", "Diffusion and waves", "N:EPSILON[:DEGREES][:random=SEED]",
             "diffusion on N^2 points, EPSILON times weaker across a direction at DEGREES to the "
             "x axis",
             "Symmetric positive definite. (3 N - 2)^2 nonzeros. Bilinear finite elements for "
             "-div(C grad u), C = Q diag(1, EPSILON) Q', Q the rotation by DEGREES (0); see "
             "Trottenberg, Oosterlee, Schueller, Multigrid, 2001. random=SEED scales it to D A D,"
             " D random in [0.5, 1.5).",
             "9:0.01:30"},
            2, 3,
            []<class T>(const gallery_spec& s) {
                return anisotropic_diffusion<T>(
                    s.size(0, "N"), s.number(1, "EPSILON", 1e-12, 1e12),
                    s.count() < 3 ? 0 : s.number(2, "DEGREES", -360, 360), s.random());
            }),
        make_recipe(
            {"convection_diffusion", "Diffusion and waves", "N:PECLET[:random=SEED]",
             "convection-diffusion on N^3 points, upwind, not symmetric; PECLET = velocity / "
             "diffusion",
             "Not symmetric for PECLET > 0; an M-matrix with real positive eigenvalues. 7 N^3 - 6"
             " N^2 nonzeros. -Laplace u + PECLET (u_x + u_y + u_z) on the unit cube, first-order "
             "upwind differences. random=SEED scales it to D A D, D random in [0.5, 1.5).",
             "6:10"},
            2, 2,
            []<class T>(const gallery_spec& s) {
                return convection_diffusion<T>(s.size(0, "N"), s.not_negative(1, "PECLET"),
                                               s.random());
            }),
        make_recipe(
            {"elasticity3d", "Systems", "NX[:NY:NZ][:nu=NU]",
             "elastic beam of NX x NY x NZ cubes, clamped at x = 0, 3 unknowns a node",
             "Symmetric positive definite. 3 NX (NY + 1) (NZ + 1) rows, 9 (3 NX - 2) (3 NY + 1) "
             "(3 NZ + 1) nonzeros. Trilinear hexahedra, Young's modulus 1, Poisson's ratio NU "
             "(0.3; 0 to 0.4999); see Hughes, The Finite Element Method, 1987.",
             "4:3:2"},
            1, 3,
            []<class T>(const gallery_spec& s) {
                const double nu = s.named_number("nu=", 0.3, 0, 0.4999);
                return build_box(s, [nu](auto nx, auto ny, auto nz, auto) {
                    return elasticity3d<T>(nx, ny, nz, nu);
                });
            },
            [](const gallery_spec& s) {
                return build_box(s, [](auto nx, auto ny, auto nz, auto) {
                    return elasticity3d_coordinates(nx, ny, nz);
                });
            }),
        make_recipe(
            {"helmholtz2d", "Diffusion and waves", "N:K[:random=SEED]",
             "waves of wave number K on N^2 points: Laplacian less (K h)^2, indefinite",
             "Symmetric; indefinite for K^2 above about 2 pi^2. 5 N^2 - 4 N nonzeros. -Laplace u "
             "- K^2 u on the unit square, h = 1 / (N + 1); a wave has 2 pi / (K h) points. Why it"
             " is hard: Ernst, Gander, 2012. random=SEED scales it to D A D, D random in [0.5, "
             "1.5).",
             "12:20"},
            2, 2,
            []<class T>(const gallery_spec& s) {
                return helmholtz2d<T>(s.size(0, "N"), s.number(1, "K", 0, 1e9), s.random());
            }),
        make_recipe(
            {"helmholtz3d", "Diffusion and waves", "N:K[:random=SEED]",
             "waves of wave number K on N^3 points: Laplacian less (K h)^2, indefinite",
             "Symmetric; indefinite for K^2 above about 3 pi^2. 7 N^3 - 6 N^2 nonzeros. -Laplace "
             "u - K^2 u on the unit cube, h = 1 / (N + 1); a wave has 2 pi / (K h) points. Why it"
             " is hard: Ernst, Gander, 2012. random=SEED scales it to D A D, D random in [0.5, "
             "1.5).",
             "6:20:random=5"},
            2, 2,
            []<class T>(const gallery_spec& s) {
                return helmholtz3d<T>(s.size(0, "N"), s.number(1, "K", 0, 1e9), s.random());
            }),
        make_recipe(
            {"jump_diffusion", "Diffusion and waves", "N:KAPPA[:BLOCK][:seed=SEED]",
             "diffusion in N^3 cells, coefficient 1 or KAPPA by blocks of BLOCK^3 cells",
             "Symmetric positive definite, the worse conditioned the further KAPPA is from 1. 7 "
             "N^3 - 6 N^2 nonzeros. Finite volumes with harmonic means (Patankar, 1980). Blocks "
             "(N / 8 cells wide) alternate like a checkerboard; with a seed each is KAPPA with "
             "probability 1/2.",
             "9:1e4:2"},
            2, 3,
            []<class T>(const gallery_spec& s) {
                const std::int64_t n = s.size(0, "N");
                return jump_diffusion<T>(n, s.number(1, "KAPPA", 1e-30, 1e30),
                                         s.size_or(std::max<std::int64_t>(n / 8, 1), 2, "BLOCK", n),
                                         s.named_seed());
            }),
        make_recipe(
            {"nlpkkt", "Systems", "N",
             "optimal control from the surface of a cube of N^3 nodes: KKT matrix, indefinite",
             "Symmetric indefinite: N^3 + 6 N^2 positive eigenvalues, N^3 negative ones. 2 N^3 + "
             "6 N^2 rows, 2 (3 N - 2)^3 + N^3 + 6 N^2 + 12 (3 N - 2)^2 nonzeros, as SuiteSparse's"
             " nlpkkt80 to nlpkkt240 have (Schenk, Waechter, Weiser, 2008); trilinear elements, "
             "own values.",
             "5"},
            1, 1,
            []<class T>(const gallery_spec& s) { return nlpkkt<T>(s.size(0, "N", 1023, 2)); }),
        make_recipe(
            {"poisson1d", "Laplacians", "N[:random=SEED]",
             "3-point Laplacian; random=SEED scales it symmetrically by random values",
             "Symmetric positive definite. 3 N - 2 nonzeros. Eigenvalues 4 sin^2(i pi / (2 (N + "
             "1))). random=SEED scales it to D A D, D random in [0.5, 1.5).",
             "50"},
            1, 1,
            []<class T>(const gallery_spec& s) {
                return poisson1d<T>(s.size(0, "N"), s.random());
            }),
        make_recipe(
            {"poisson2d", "Laplacians", "NX[:NY][:random=SEED]",
             "5-point Laplacian; random=SEED scales it symmetrically by random values",
             "Symmetric positive definite. 5 NX NY - 2 NX - 2 NY nonzeros. Eigenvalues 4 sin^2(i "
             "pi / (2 (NX + 1))) + 4 sin^2(j pi / (2 (NY + 1))). random=SEED scales it to D A D, "
             "D random in [0.5, 1.5).",
             "9:8:random=1"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                const std::int64_t nx = s.size(0, "NX");
                return poisson2d<T>(nx, s.size_or(nx, 1, "NY"), s.random());
            }),
        make_recipe(
            {"poisson2d_9point", "Laplacians", "NX[:NY][:random=SEED]",
             "compact 9-point Laplacian (20, -4, -1); random=SEED scales it by random values",
             "Symmetric positive definite. (3 NX - 2) (3 NY - 2) nonzeros. Eigenvalues 36 - (4 + "
             "2 cos(i pi / (NX + 1))) (4 + 2 cos(j pi / (NY + 1))); see Collatz, The Numerical "
             "Treatment of Differential Equations, 1960. random=SEED scales it to D A D, D random"
             " in [0.5, 1.5).",
             "9:8"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                const std::int64_t nx = s.size(0, "NX");
                return poisson2d_9point<T>(nx, s.size_or(nx, 1, "NY"), s.random());
            }),
        make_recipe(
            {"poisson3d", "Laplacians", "NX[:NY:NZ][:random=SEED]",
             "7-point Laplacian; random=SEED scales it symmetrically by random values",
             "Symmetric positive definite. 7 n - 2 (NX NY + NY NZ + NZ NX) nonzeros, n = NX NY "
             "NZ. Eigenvalues as poisson2d with a third term. random=SEED scales it to D A D, D "
             "random in [0.5, 1.5).",
             "7:random=1"},
            1, 3,
            []<class T>(const gallery_spec& s) {
                return build_box(s, [](auto... box) { return poisson3d<T>(box...); });
            }),
        make_recipe(
            {"poisson3d_27point", "Laplacians", "NX[:NY:NZ][:random=SEED]",
             "27-point Laplacian; random=SEED scales it symmetrically by random values",
             "Symmetric positive definite. (3 NX - 2) (3 NY - 2) (3 NZ - 2) nonzeros. 26 on the "
             "diagonal, -1 to all around; eigenvalues 27 less a product of 1 + 2 cos(i pi / (NX +"
             " 1)) and the like. random=SEED scales it to D A D, D random in [0.5, 1.5).",
             "5"},
            1, 3,
            []<class T>(const gallery_spec& s) {
                return build_box(s, [](auto... box) { return poisson3d_27point<T>(box...); });
            }),
        make_recipe(
            {"rough_diffusion", "Diffusion and waves", "N:CONTRAST[:seed=SEED]",
             "diffusion in N^3 cells, each with a random coefficient from 1 to CONTRAST",
             "Symmetric positive definite, the worse conditioned the larger CONTRAST is. 7 N^3 - 6 "
             "N^2 nonzeros. Finite volumes with harmonic means, as jump_diffusion; coefficients "
             "are about uniform on a logarithmic scale and have nothing to do with those of "
             "neighbours.",
             "9:1e6"},
            2, 2,
            []<class T>(const gallery_spec& s) {
                return rough_diffusion<T>(s.size(0, "N"), s.number(1, "CONTRAST", 2, 1e30),
                                          s.named_seed().value_or(1));
            }),
        make_recipe(
            {"stokes2d", "Systems", "NX[:NY]",
             "Stokes flow in a box of NX x NY cells: velocities and pressures, indefinite",
             "Symmetric indefinite (saddle point), regular: the last cell's pressure is fixed to "
             "0 and its equation left out. 3 NX NY - NX - NY - 1 rows, 18 NX NY - 13 (NX + NY) "
             "nonzeros; pressures have no diagonal entry. Staggered grid (Harlow, Welch, 1965).",
             "12:9"},
            1, 2,
            []<class T>(const gallery_spec& s) {
                const std::int64_t nx = s.size(0, "NX");
                return stokes2d<T>(nx, s.size_or(nx, 1, "NY"));
            }),
    };
    return recipes;
}

} // namespace krylith
