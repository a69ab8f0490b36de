#include <krylith/solvers/idr.hpp>

#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// With s = 4, as solver_options has it. Of a cycle: P'r; s times w = r, w with G, w = omega w, w
/// with U, u and the domain vector from w, P'g, and r x with g u; g and u with those before; the
/// last product's r, and r x with w and the domain vector.
std::optional<double> idr_passes(const solver_setting& setting) {
    if (setting.preconditioned) return std::nullopt;
    const double s = solver_options{}.shadow_vectors;
    const double each = 2 + (s + 2) + 2 + (s + 2) + 3 + (s + 1) + 6;
    return ((s + 1) + s * each + (s - 1) * (s + 4) + 9) / (s + 1);
}

solver_vectors idr_vectors(const solver_setting& setting) {
    const std::int64_t s = solver_options{}.shadow_vectors;
    return {3 * s + (setting.preconditioned ? 4 : 3), 1};
}

} // namespace

constinit const solver_method solver_rows::idr = {
    .name = "idr",
    .aliases = {"idrs", "idr(s)", "idr-s"},
    .help = "takes any square matrix, with one product an iteration and 16 vectors",
    .needs_spd = false,
    .needs_symmetric = false,
    .has_sides = false,
    .restarts = false,
    .products = 1,
    .passes = idr_passes,
    .vectors = idr_vectors,
    .functions = solver_functions{krylith::idr<matrix_operator<double>, any_preconditioner<double>>,
                                  krylith::idr<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
