// A matrix with a right-hand side, and facts about them that the library's kernels didn't compute.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

struct workload_options {
    bool spd = false;    ///< made symmetric positive definite
    bool single = false; ///< values and right-hand side are rounded to fp32
};

/// A workload, made once and used by all that are compared.
struct workload {
    std::string name;
    csr_matrix<double> matrix;
    csr_matrix<float> single; ///< the same in fp32; empty unless options ask for it
    std::vector<double> b;    ///< uniform in [-1, 1), the same on every machine
    double rhs_norm = 0;
    double seconds = 0; ///< to load or generate the matrix
    bool spd = false;   ///< made symmetric positive definite

    [[nodiscard]] std::int64_t n() const { return matrix.rows; }
    [[nodiscard]] std::int64_t nnz() const { return matrix.nnz(); }

    template <class T>
    [[nodiscard]] const csr_matrix<T>& matrix_of() const {
        if constexpr (std::is_same_v<T, float>) {
            return single;
        } else {
            return matrix;
        }
    }
    template <class T>
    [[nodiscard]] std::vector<T> rhs_of() const {
        return {b.begin(), b.end()};
    }
};

/// Loads `name` as the krylith command takes it. Throws what tool::load_square() throws.
[[nodiscard]] workload make_workload(const std::string& name, const workload_options& options = {});

/// ||b - A x||_2, on the CPU.
[[nodiscard]] double true_residual(const workload& w, std::span<const double> x);

/// || |b| + |A| |x| ||_2, to which rounding errors of the residual are proportional.
[[nodiscard]] double residual_scale(const workload& w, std::span<const double> x);

struct reference_product {
    std::vector<double> y;     ///< A b
    std::vector<double> scale; ///< |A| |b|; rounding errors of y are proportional to it
    double dot = 0;            ///< b'A b
};

[[nodiscard]] reference_product multiply_by_b(const workload& w);

/// max |y - expected.y| / expected.scale, over the rows; NaN where y has one.
[[nodiscard]] double largest_error(const reference_product& expected, std::span<const double> y);

} // namespace krylith::bench
