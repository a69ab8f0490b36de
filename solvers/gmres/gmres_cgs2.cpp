#include <krylith/solvers/gmres/gmres_cgs2.hpp>

#include <krylith/solvers/solver_table.hpp>
#include <krylith/solvers/table/gmres_model.hpp>

namespace krylith {

namespace {

/// The basis is read four times: solvers/gmres/gmres_cgs2.hpp.
std::optional<double> gmres_cgs2_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return 4 * s.mean_basis() + 5;
}

} // namespace

constinit const solver_method solver_rows::gmres_cgs2 = {
    .name = "gmres:cgs2",
    .help = "orthogonalises at once, for comparison",
    .variant_of = &solver_rows::gmres,
    .for_comparison = true,
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = true,
    .restarts = true,
    .products = 1,
    .passes = gmres_cgs2_passes,
    .vectors = gmres_model::vectors,
    .functions =
        solver_functions{krylith::gmres_cgs2<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::gmres_cgs2<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
