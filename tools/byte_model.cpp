#include <krylith/tools/byte_model.hpp>

namespace krylith::tool {

double traffic::product(bool reads_y) const {
    const auto matrix = static_cast<double>((value_bytes + 4) * nnz + 4 * rows);
    return matrix + static_cast<double>((reads_y ? 3 : 2) * value_bytes * rows);
}

std::optional<double> traffic::iteration(std::string_view solver,
                                         std::string_view preconditioner) const {
    if (solver != "cg")
        return std::nullopt;
    // Beside the product: r q read, r written; x p r read, x p written. Jacobi reads its diagonal
    // and writes z, which stands for r in the last pass.
    const int passes = preconditioner == "jacobi" ? 10 : 8;
    return product() + static_cast<double>(passes * value_bytes * rows);
}

} // namespace krylith::tool
