#include <krylith/solvers/lsqr.hpp>

#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

/// q u read, u written; p v read, v written; x w v read, x w written; with damping u's lower part
/// and v read and the former written, and read once more. Of square A.
std::optional<double> lsqr_passes(const solver_setting& s) {
    if (s.preconditioned) return std::nullopt;
    return s.damped ? 15 : 11;
}

/// x p w q, with damping u's lower part, and u and v, which A' and A multiply.
solver_vectors lsqr_vectors(const solver_setting& s) {
    return {s.damped ? 5 : 4, 2};
}

} // namespace

constinit const solver_method solver_rows::lsqr = {
    .name = "lsqr",
    .aliases = {"lscg", "lstsq", "least-squares"},
    .help = "takes any matrix, rectangular ones too, and finds x with the least ||b - A x||, "
            "without preconditioner",
    .needs_spd = false,
    .needs_symmetric = false,
    .least_squares = true,
    .has_sides = false,
    .restarts = false,
    .products = 2,
    .passes = lsqr_passes,
    .vectors = lsqr_vectors,
    .functions =
        solver_functions{krylith::lsqr<matrix_operator<double>, any_preconditioner<double>>,
                         krylith::lsqr<matrix_operator<float>, any_preconditioner<float>>},
};

} // namespace krylith
