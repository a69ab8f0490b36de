#include <krylith/solvers/cg.hpp>

#include <krylith/solvers/joint/joint_methods.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/cg_model.hpp>

namespace krylith {

/// r q read, r written; x p r read, x p written. M has z written, which stands for r in the last
/// pass.
std::optional<double> cg_model::passes(const solver_setting& s) {
    return s.pointwise ? 9 : 8;
}

solver_vectors cg_model::vectors(const solver_setting& s) {
    return {s.preconditioned ? 4 : 3, 1};
}

constinit const solver_method solver_rows::cg = {
    .name = "cg",
    .aliases = {"pcg", "conjugategradient", "conjugategradients"}, // M is an argument
    .help = "needs a symmetric positive definite matrix",
    .needs_spd = true,
    .needs_symmetric = true,
    .has_sides = false,
    .restarts = false,
    .listed = true,
    .products = 1,
    .passes = cg_model::passes,
    .vectors = cg_model::vectors,
    .functions = solver_functions{krylith::cg<matrix_operator<double>, any_preconditioner<double>>,
                                  krylith::cg<matrix_operator<float>, any_preconditioner<float>>},
    .joint = {joint_cg<double>, joint_cg<float>},
};

constinit const solver_method solver_rows::cg_launched = {
    .name = "cg:launched",
    .help = "runs in kernels that every iteration launches, however small the system",
    .variant_of = &solver_rows::cg,
    .needs_spd = true,
    .needs_symmetric = true,
    .has_sides = false,
    .restarts = false,
    .products = 1,
    .passes = cg_model::passes,
    .vectors = cg_model::vectors,
    .functions =
        solver_functions{krylith::launched_cg<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::launched_cg<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
