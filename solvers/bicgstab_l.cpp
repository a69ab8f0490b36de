#include <krylith/solvers/bicgstab_l.hpp>

#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// Of a cycle of l = 2 steps: u_0 twice and u_1 from r and u; x r_0 with u_0 u_1, twice, and r_1
/// with u_2; r_0'r_1, r_2'r_1, r_2 with r_1 and r_0; x with r_0 r_1, r_0 with r_1 r_2 and the
/// shadow, u_0 with u_1 u_2; the shadow in four products.
std::optional<double> bicgstab_l_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return (3 * 3 + 2 * 6 + 3 + 2 + 2 + 4 + 4 + 5 + 4 + 4) / 2.0;
}

/// With l = 2, as solver_options has it.
solver_vectors bicgstab_l_vectors(const solver_setting& s) {
    return s.preconditioned ? solver_vectors{8, 4} : solver_vectors{4, 4};
}

} // namespace

constinit const solver_method solver_rows::bicgstab_l = {
    .name = "bicgstab_l",
    .aliases = {"bicgstabl", "bicgstab-l", "bicgstab(l)", "bcgsl"},
    .help = "takes any square matrix, and eigenvalues in conjugate pairs (convection)",
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = true,
    .restarts = false,
    .products = 2,
    .passes = bicgstab_l_passes,
    .vectors = bicgstab_l_vectors,
    .functions =
        solver_functions{krylith::bicgstab_l<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::bicgstab_l<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
