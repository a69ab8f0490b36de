// solve() on generated matrices of hard kinds: all converge, by the same methods on any devices.
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/automatic.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;

namespace {

struct hard_kind {
    const char* matrix; ///< in the gallery, or of this file
    const char* why;
    const char* converges_by;
};

constexpr hard_kind hard_kinds[] = {
    {"stokes2d:8", "saddle point: zeros on the diagonal", "bicgstab"},
    {"nlpkkt:4", "of an optimisation problem: zeros on the diagonal", "bicgstab"},
    {"helmholtz2d:20:9", "symmetric, indefinite, positive diagonal", "bicgstab"},
    {"convection_diffusion:12:1000", "far from symmetric", "bicgstab"},
    {"anisotropic_diffusion:24:0.001:30", "condition number", "cg"},
    {"jump_diffusion:10:1e6", "coefficients jump by 1e6", "cg"},
    {"fullchip:800", "some rows hold many entries", "cg"},
    {"cycle", "GMRES needs as many vectors as rows", "gmres"},
    {"scales", "rows of 12 sizes, zeros on the diagonal", "bicgstab"},
};

/// Each row has the next unknown: all eigenvalues lie around 0.
csr_matrix<double> cycle(std::int64_t n) {
    testing::triplets entries;
    for (std::int64_t i = 0; i < n; ++i)
        entries.emplace_back(i, (i + 1) % n, 1.0 + 0.01 * static_cast<double>(i));
    return testing::from_triplets(n, entries);
}

csr_matrix<double> scales(std::int64_t n) {
    testing::triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        const double size = std::ldexp(1.0, static_cast<int>(i % 12));
        if (i % 4 != 0) entries.emplace_back(i, i, size * 3);
        entries.emplace_back(i, (i + 1) % n, size * 2);
        entries.emplace_back(i, (i + 17) % n, -size);
    }
    return testing::from_triplets(n, entries);
}

csr_matrix<double> make(const std::string& name) {
    if (name == "cycle") return cycle(60);
    if (name == "scales") return scales(120);
    return make_gallery<double>(name);
}

} // namespace

KRYLITH_GROUP_TEST("auto: generated matrices of hard kinds converge by default") {
    for (const hard_kind& kind : hard_kinds) {
        CAPTURE(kind.matrix);
        CAPTURE(kind.why);
        const auto matrix = make(kind.matrix);
        problem<double> p(group, matrix,
                          std::vector<double>(static_cast<std::size_t>(matrix.rows), 1));
        const auto result = solve(*p.a, p.b, p.x);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1.1e-8);
        CHECK(result.attempts.back().solver == kind.converges_by);
    }
}

} // namespace krylith
