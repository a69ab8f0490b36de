// Sparse approximate inverse: M, sparse, with M A near I.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

struct spai_options {
    /// The pattern of M is that of A^power; 1 or 2.
    int power = 1;
    /// With power 2, entries of |a_ij| / sqrt(|a_ii a_jj|) below this are left out before the
    /// matrix of these is squared, and those of the square afterwards; 0 to 1.
    double threshold = 0.05;
};

/// For square A that need not be symmetric. M minimises |I - M A| in the Frobenius norm among the
/// matrices of its pattern (Grote and Huckle, SIAM J. Sci. Comput. 18(3), 1997, with a pattern that
/// is chosen in advance, and rows for columns). A row of M is a small problem of least squares,
/// |e_i - m A|, of as many unknowns as it has entries, at most 32: longer rows keep the entries
/// where A, or the square, is largest. It is solved by its normal equations, so rows of A that are
/// nearly dependent lose twice their digits, and squares of the entries of A over the largest must
/// be in the range of T.
///
/// An application is a product by M, which is kept as a matrix of a usual format: for rows of z
/// nonzeros about 12 z n bytes (fp64; `sell` on GPUs less). There are no sweeps and no triangular
/// solves, and M is the same on any number of devices, bit for bit. M isn't symmetric where A is.
///
/// Where A or M would have entries below 2^-130 or above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and another matrix or
/// pattern, and input_error naming the first row whose problem has no unique solution. A refused
/// update changes nothing. Rows of A may be unsorted; entries at one place add up.
template <class T>
class spai : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows.
    spai(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
         const spai_options& options = {});

    /// Returns the text that makes it, such as "spai:power=1".
    [[nodiscard]] std::string name() const;
    /// The nonzeros of M.
    [[nodiscard]] std::int64_t nonzeros() const;
    [[nodiscard]] static constexpr bool symmetric() { return false; }

private:
    spai_options options_;
};

} // namespace krylith
