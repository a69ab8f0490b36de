// Rigid body modes for --precond amg and auto, of the coordinates of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/precond/any_preconditioner.hpp>

namespace krylith::tool {

/// What preconditioners are told of nodes. Without vectors nothing but the rows of a node.
struct near_null {
    int block_size = 1; ///< rows of a node, for operators too
    std::vector<double> vectors;

    /// Refers to the vectors.
    [[nodiscard]] matrix_nodes nodes() const { return {block_size, vectors}; }
};

/// What shows for --coordinates in the help.
inline constexpr const char* coordinates_forms = "FILE|-|none";

/// The rows of a node that `preconditioner`, the text of one or "auto", names; 1 where it names
/// none.
[[nodiscard]] int named_block_size(std::string_view preconditioner);

/// The rigid body modes for a preconditioner of a matrix of so many rows: `coordinates` is a file
/// with an array of nodes x dimension, in which a matrix may be, "-" for standard input, "none", or
/// empty: those of the gallery, if the matrix is of there and as it is. `preconditioner` is the
/// text of one, or "auto". Nothing for those other than amg and auto. Throws usage_error for
/// coordinates that these can't use, and input_error for a file that can't be read, or of another
/// size.
[[nodiscard]] near_null find_near_null(std::string_view matrix, bool changed, std::int64_t rows,
                                       const std::string& coordinates,
                                       std::string_view preconditioner);

} // namespace krylith::tool
