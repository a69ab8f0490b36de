#include <krylith/solvers/fcg.hpp>

#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/cg_model.hpp>

namespace krylith {

constinit const solver_method solver_rows::fcg = {
    .name = "fcg",
    .aliases = {"flexiblecg"},
    .help = "needs a symmetric positive definite matrix, and takes a preconditioner that varies",
    .needs_spd = true,
    .needs_symmetric = true,
    .takes_varying = true,
    .has_sides = false,
    .restarts = false,
    .products = 1,
    .passes = cg_model::passes,
    .vectors = cg_model::vectors,
    .functions = solver_functions{krylith::fcg<matrix_operator<double>, any_preconditioner<double>>,
                                  krylith::fcg<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
