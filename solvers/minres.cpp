#include <krylith/solvers/minres.hpp>

#include <krylith/solvers/joint/joint_methods.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// q p v_before read, q v_before written; p w w_before read, three w written; x w q read, x p
/// written. With M v too, and in a last pass q and r.
std::optional<double> minres_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return 16;
}

solver_vectors minres_vectors(const solver_setting& s) {
    return {s.preconditioned ? 9 : 6, 1};
}

} // namespace

constinit const solver_method solver_rows::minres = {
    .name = "minres",
    .aliases = {"pminres"},
    .help = "needs a symmetric matrix, which may be indefinite",
    .needs_spd = false,
    .needs_symmetric = true,
    .has_sides = false,
    .restarts = false,
    .products = 1,
    .passes = minres_passes,
    .vectors = minres_vectors,
    .functions =
        solver_functions{krylith::minres<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::minres<matrix_operator<float>, any_preconditioner<float>>},
    .joint = {joint_minres<double>, joint_minres<float>},
};

} // namespace krylith
