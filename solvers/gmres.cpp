#include <krylith/solvers/gmres.hpp>

#include <krylith/solvers/joint/joint_methods.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/gmres_model.hpp>

namespace krylith {

/// With M on the right A multiplies M^-1 v, so that the basis needs no ghosts.
solver_vectors gmres_model::vectors(const solver_setting& s) {
    const std::int64_t basis = s.restart + 1;
    return s.preconditioned ? solver_vectors{4 + basis, 2} : solver_vectors{4, basis + 1};
}

namespace {

/// The basis is read twice: solvers/gmres.hpp.
std::optional<double> gmres_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return 2 * s.mean_basis() + 4;
}

} // namespace

constinit const solver_method solver_rows::gmres = {
    .name = "gmres",
    .aliases = {"pgmres"},
    .help = "takes any square matrix and keeps a basis, as many vectors as it restarts after",
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = true,
    .restarts = true,
    .listed = true,
    .products = 1,
    .passes = gmres_passes,
    .vectors = gmres_model::vectors,
    .functions =
        solver_functions{krylith::gmres<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::gmres<matrix_operator<float>, any_preconditioner<float>>},
    .joint = {joint_gmres<double>, joint_gmres<float>},
};

} // namespace krylith
