#include <krylith/solvers/persistent_cg.hpp>

#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/cg_model.hpp>

namespace krylith {

constinit const solver_method solver_rows::cg_persistent = {
    .name = "cg:persistent",
    .help = "runs in resident kernels, or says why it can't",
    .variant_of = &solver_rows::cg,
    .needs_spd = true,
    .needs_symmetric = true,
    .has_sides = false,
    .restarts = false,
    .runs_everywhere = false,
    .recordable = false,
    .products = 1,
    .passes = cg_model::passes,
    .vectors = cg_model::vectors,
    .functions = solver_functions{krylith::persistent_cg<double, any_preconditioner<double>>,
                                  krylith::persistent_cg<float, any_preconditioner<float>>},
};

} // namespace krylith
