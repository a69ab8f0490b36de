// A row of the table of solvers that doesn't say whether the solver restarts.
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/solver_table.hpp>

using namespace krylith;

constinit const solver_method incomplete = {
    .name = "incomplete",
    .help = "lacks a field",
    .needs_spd = true,
    .needs_symmetric = true,
    .has_sides = false,
    // .restarts
    .products = 1,
    .passes = [](const solver_setting&) { return std::optional(8.0); },
    .vectors =
        [](const solver_setting&) {
            return solver_vectors{2, 1};
        },
    .functions = solver_functions{cg<matrix_operator<double>, any_preconditioner<double>>,
                                  cg<matrix_operator<float>, any_preconditioner<float>>},
};
