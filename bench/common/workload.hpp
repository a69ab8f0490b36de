// A matrix with a right-hand side, and what is known about them without the library's kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// Made once and used by all that are compared.
struct workload {
    std::string name;
    csr_matrix<double> matrix;
    std::vector<double> b; ///< uniform in [-1, 1), the same on every machine
    double rhs_norm = 0;
    double seconds = 0; ///< to load or generate the matrix

    [[nodiscard]] std::int64_t n() const { return matrix.rows; }
    [[nodiscard]] std::int64_t nnz() const { return matrix.nnz(); }
};

/// `name` as the krylith command takes it. Throws what load_matrix() throws.
[[nodiscard]] workload make_workload(const std::string& name);

/// ||b - A x||_2, on the CPU.
[[nodiscard]] double true_residual(const workload& w, std::span<const double> x);

struct reference_product {
    std::vector<double> y;     ///< A b
    std::vector<double> scale; ///< |A| |b|: what rounding errors of y are proportional to
    double dot = 0;            ///< b'A b
};

[[nodiscard]] reference_product multiply_by_b(const workload& w);

/// max |y - expected.y| / expected.scale, over the rows; NaN where y has one.
[[nodiscard]] double largest_error(const reference_product& expected, std::span<const double> y);

/// Bytes that CG must move an iteration in three passes (fp64, CSR with 32-bit columns and
/// offsets): matrix 12 nnz + 4 n; q written, p read; r and q read, r written; x, p and r read, x
/// and p written. The measure for every format, so that rates compare: SELL, which may store fewer
/// bytes, can exceed the limit of the memory.
[[nodiscard]] inline double cg_bytes(const workload& w) {
    return 12.0 * static_cast<double>(w.nnz()) + 84.0 * static_cast<double>(w.n());
}

/// Likewise of y = A x: matrix, x read, y written.
[[nodiscard]] inline double product_bytes(const workload& w) {
    return 12.0 * static_cast<double>(w.nnz()) + 20.0 * static_cast<double>(w.n());
}

} // namespace krylith::bench
