// Rigid body modes for --precond amg, of the coordinates of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::tool {

/// What amg is told of nodes. Without vectors nothing but the rows of a node.
struct near_null {
    int block_size = 1; ///< rows of a node, for operators too
    std::vector<double> vectors;
};

/// What shows for --coordinates in the help.
inline constexpr const char* coordinates_forms = "FILE|-|none";

/// The rigid body modes for a preconditioner of a matrix of so many rows: `coordinates` is a file
/// with an array of nodes x dimension, in which a matrix may be, "-" for standard input, "none", or
/// empty: those of the gallery, if the matrix is of there and as it is. Nothing for preconditioners
/// other than amg. Throws usage_error for coordinates that those can't use, and input_error for a
/// file that can't be read, or of another size.
[[nodiscard]] near_null find_near_null(std::string_view matrix, bool changed, std::int64_t rows,
                                       const std::string& coordinates,
                                       std::string_view preconditioner);

/// make_preconditioner() with the near-null vectors.
template <class T>
[[nodiscard]] any_preconditioner<T>
make_preconditioner_with(std::string_view text, const matrix_operator<T>& a,
                         const csr_view<T>& matrix, const near_null& given);

} // namespace krylith::tool
