// Matrices for solves with triangles, each with the bug that it is there for, and the oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/sparse/triangular_solver.hpp>

namespace krylith::testing {

struct triangular_case {
    std::string name;
    std::string finds;
    csr_matrix<double> matrix;
};

[[nodiscard]] std::vector<triangular_case> triangular_cases();

/// A chain: row i depends on row i - step, and row i - step on row i in the other triangle.
[[nodiscard]] csr_matrix<double> chain(std::int64_t rows, std::int64_t step);

/// Substitution by the textbook in long double.
[[nodiscard]] std::vector<double> substitute(const csr_matrix<double>& a, triangle_part part,
                                             triangle_diagonal diagonal,
                                             const std::vector<double>& b);

/// Numbers in (-1, 1).
[[nodiscard]] std::vector<double> right_hand_side(std::int64_t rows, unsigned seed);

} // namespace krylith::testing
