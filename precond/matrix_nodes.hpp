// What is known of a system of several unknowns a node, as of elasticity, beside its matrix.
//
//     const std::vector<double> modes = rigid_body_modes(coordinates, 3);
//     const matrix_nodes nodes{.block_size = 3, .near_null = modes};
//     const solve_result result = solve(*a, matrix, b, x, {}, nodes);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// The nodes of a matrix. The operator should keep them whole (operator_options::block_size).
struct matrix_nodes {
    /// Rows of a node, consecutive ones: 1 to 12, a divisor of the number of rows.
    int block_size = 1;
    /// What A maps to nearly 0, as amg_options::near_null takes it: 1 to 12 vectors of n entries in
    /// the caller's order of rows, one vector after the other, such as rigid_body_modes(). Empty:
    /// nothing is known. It refers to an array of the caller's.
    std::span<const double> near_null = {};

    /// Whether this says more than that each row is a node.
    [[nodiscard]] bool known() const { return block_size != 1 || !near_null.empty(); }
    /// Throws usage_error naming the member that doesn't suit a matrix of so many rows. It doesn't
    /// read the vectors.
    void check(std::int64_t rows) const;
};

/// make_preconditioner() for a matrix with nodes: amg takes both members, block-jacobi the rows of
/// a node, unless the text has another block_size; others are made as without.
template <class T>
[[nodiscard]] any_preconditioner<T>
make_preconditioner(std::string_view text, const matrix_operator<T>& a,
                    const std::type_identity_t<csr_view<T>>& matrix, const matrix_nodes& nodes);

} // namespace krylith
