// Block Jacobi preconditioning: M is A without the entries outside of small blocks along its
// diagonal.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

struct block_jacobi_options {
    /// The rows of a block, 1 to 32, from row 0 on; 0: natural blocks, that is runs of consecutive
    /// rows with equal patterns, as the unknowns of a node have. Longer runs than 32 are divided.
    int block_size = 0;
};

/// Keeps the inverses of the blocks, which Gauss and Jordan's method with pivoting makes on the
/// devices (Anzt, Dongarra, Flegar, Quintana-Orti, Parallel Computing 81, 2019): for blocks of b
/// rows, sizeof(T) b n bytes, and 2 n + 4 n / b for their places, on the whole group; the inverses
/// twice from the first update on. An application is one pass that reads them once, and makes up to
/// two of the dots on the way. The inverse of a symmetric block is symmetric, so that M suits cg()
/// where A does.
///
/// Blocks are of the operator's order of rows. Where a cut between two devices divides a block,
/// both invert the whole of it, and exchange its entries of r in each application: M is the same on
/// any number of devices. Natural blocks lie on one device where the operator keeps the rows of a
/// node together (operator_options::block_size).
///
/// Where all entries of A or of inverses are below 2^-130 or one is above 2^130 (float: 2^-40,
/// 2^40), M is 2^k of that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and another matrix or
/// pattern, and input_error naming the rows of the first block that has no finite inverse, since it
/// is singular, or its rows are empty. A refused update changes nothing. Rows of A may be unsorted;
/// entries at one place add up.
template <class T>
class block_jacobi : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An update keeps
    /// the blocks.
    block_jacobi(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                 const block_jacobi_options& options = {});

    /// Returns the text that makes it, such as "block-jacobi:block_size=4".
    [[nodiscard]] std::string name() const;
    /// The number of blocks, and the rows of the largest one.
    [[nodiscard]] std::int64_t blocks() const;
    [[nodiscard]] int largest_block() const;

private:
    block_jacobi_options options_;
};

} // namespace krylith
