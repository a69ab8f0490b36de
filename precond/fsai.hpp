// Factorised sparse approximate inverse: M^-1 = G'G, where G is lower triangular and sparse.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

struct fsai_options {
    /// The pattern of G is that of the lower triangle of A^power; 1 or 2.
    int power = 1;
    /// With power 2, entries of |D^-1/2 A D^-1/2| below this are left out before it is squared, and
    /// those of the square afterwards; 0 to 1.
    double threshold = 0.05;
};

/// For symmetric positive definite A. G minimises |I - G L| in the Frobenius norm, where A = L L',
/// among the matrices of its pattern, and G A G' has ones on its diagonal (Kolotilina and Yeremin,
/// SIAM J. Matrix Anal. Appl. 14, 1993). Row i is a dense system of as many unknowns as it has
/// entries, at most 32: longer rows keep the entries where A is largest. Only the lower triangle of
/// A is used.
///
/// An application is two products, by G and G', which are kept as matrices of the usual formats:
/// for rows of z nonzeros about 12 (z + 1) n bytes (fp64; `sell` on GPUs less) and two vectors.
/// There are no sweeps and no triangular solves, and M is the same on any number of devices, bit
/// for bit.
///
/// Where A or G'G would have entries below 2^-130 or above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and another matrix or
/// pattern, and input_error naming the first row whose system is not positive definite. A refused
/// update changes nothing. Rows of A may be unsorted; entries at one place add up.
template <class T>
class fsai : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows.
    fsai(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
         const fsai_options& options = {});

    /// Returns the text that makes it, such as "fsai:power=1".
    [[nodiscard]] std::string name() const;
    /// The nonzeros of G.
    [[nodiscard]] std::int64_t nonzeros() const;

private:
    fsai_options options_;
};

} // namespace krylith
