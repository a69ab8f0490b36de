#include <krylith/solvers/bicgstab.hpp>

#include <krylith/solvers/joint/joint_methods.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// r0 read with the first product; r v read, s written; x p s t r0 read, x r written; r p v read, p
/// written.
std::optional<double> bicgstab_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return 15;
}

solver_vectors bicgstab_vectors(const solver_setting& s) {
    return {5, s.preconditioned ? 4 : 2};
}

} // namespace

constinit const solver_method solver_rows::bicgstab = {
    .name = "bicgstab",
    .aliases = {"bicg", "bcgs"},
    .help = "takes any square matrix, with a few vectors",
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = true,
    .restarts = false,
    .listed = true,
    .products = 2,
    .passes = bicgstab_passes,
    .vectors = bicgstab_vectors,
    .functions =
        solver_functions{krylith::bicgstab<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::bicgstab<matrix_operator<float>, any_preconditioner<float>>},
    .joint = {joint_bicgstab<double>, joint_bicgstab<float>},
};

} // namespace krylith
