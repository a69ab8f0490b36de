#include <krylith/tools/model/byte_model.hpp>

namespace krylith::tool {

double traffic::product(bool reads_y) const {
    const auto matrix = static_cast<double>((value_bytes + 4) * nnz + 4 * rows);
    return matrix + static_cast<double>((reads_y ? 3 : 2) * value_bytes * rows);
}

namespace {

/// Basis vectors that an iteration of restarted GMRES works with, in the mean.
double mean_basis(const method& m) {
    if (m.iterations == 0) return 0;
    const std::int64_t rest = m.iterations % m.restart;
    const std::int64_t sum =
        m.iterations / m.restart * (m.restart * (m.restart + 1) / 2) + rest * (rest + 1) / 2;
    return static_cast<double>(sum) / static_cast<double>(m.iterations);
}

} // namespace

int products(const method& m) {
    return m.solver == "bicgstab" ? 2 : 1;
}

std::optional<double> vector_passes(const method& m) {
    // Beside the product: r q read, r written; x p r read, x p written. Jacobi reads its diagonal
    // and writes z, which stands for r in the last pass.
    if (m.solver.starts_with("cg")) // however it is run: what the textbook moves
        return m.preconditioner == "jacobi" ? 10 : 8;
    if (m.preconditioner != "none") return std::nullopt;
    // r0 read with the first product; r v read, s written; x p s t r0 read, x r written; r p v
    // read, p written.
    if (m.solver == "bicgstab") return 15;
    // The basis is read twice: solvers/gmres.hpp. Four times: solvers/gmres_cgs2.hpp.
    if (m.solver == "gmres") return 2 * mean_basis(m) + 4;
    if (m.solver == "gmres:cgs2") return 4 * mean_basis(m) + 5;
    return std::nullopt;
}

std::optional<double> traffic::iteration(const method& m) const {
    const std::optional<double> passes = vector_passes(m);
    if (!passes) return std::nullopt;
    return products(m) * product() + *passes * static_cast<double>(value_bytes * rows);
}

} // namespace krylith::tool
