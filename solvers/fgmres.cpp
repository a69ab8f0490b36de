#include <krylith/solvers/fgmres.hpp>

#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/gmres_model.hpp>

namespace krylith {

namespace {

/// Without M it is gmres.
std::optional<double> fgmres_passes(const solver_setting& s) {
    return solver_rows::gmres.passes.get()(s);
}

/// M^-1 v of every vector of the basis but the last is kept, with ghosts; gmres has one.
solver_vectors fgmres_vectors(const solver_setting& s) {
    const solver_vectors gmres = gmres_model::vectors(s);
    if (!s.preconditioned) return gmres;
    return {gmres.range, gmres.domain - 1 + s.restart};
}

} // namespace

constinit const solver_method solver_rows::fgmres = {
    .name = "fgmres",
    .aliases = {"flexiblegmres"},
    .help = "takes any square matrix and a preconditioner that varies; keeps two bases",
    .needs_spd = false,
    .needs_symmetric = false,
    .takes_varying = true,
    .has_sides = false,
    .restarts = true,
    .products = 1,
    .passes = fgmres_passes,
    .vectors = fgmres_vectors,
    .functions =
        solver_functions{krylith::fgmres<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::fgmres<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
