// Gauss-Seidel preconditioning in the order of colours, forward or symmetric (SSOR).
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

enum class sweep_kind {
    symmetric, ///< forward, then backward: M is symmetric where A is
    forward    ///< half the work, for A that is not symmetric
};

struct gauss_seidel_options {
    double omega = 1; ///< the relaxation, above 0 and below 2
    sweep_kind sweep = sweep_kind::symmetric;
};

/// With A = L + D + U in the order of colours, M = D / omega + L, or, symmetric, (D / omega + L)
/// ((2 / omega - 1) D)^-1 (D / omega + U) (Saad, Iterative Methods for Sparse Linear Systems,
/// sections 10.2 and 12.4). Rows of a colour are not coupled, and are computed at once. Colours are
/// found by an integer hash of the row, and ghosts exchanged after each of them, so that M is the
/// same on any number of devices.
///
/// Keeps the entries of A in the order of colours with their columns, sizeof(T) + 4 bytes each, and
/// about 24 + 2 sizeof(T) bytes a row. A symmetric application reads each entry once, in 2 (colours
/// - 1) kernels and two passes; on several devices each has an exchange of ghosts. Where a row has
/// very many entries there are many colours only if its neighbours are coupled with one another.
///
/// Where all 1 / a_ii are below 2^-130 or one is above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and another matrix or
/// pattern, and input_error naming the first row whose diagonal entry, or its inverse, is zero or
/// not finite. A refused update changes nothing. Rows of A may be unsorted; entries at one place
/// add up.
template <class T>
class gauss_seidel : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An update keeps
    /// the colours.
    gauss_seidel(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
                 const gauss_seidel_options& options = {});

    [[nodiscard]] bool symmetric() const { return options_.sweep == sweep_kind::symmetric; }
    /// Returns the text that makes it, such as "gauss-seidel:omega=1:sweep=symmetric".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] int colours() const;

private:
    gauss_seidel_options options_;
};

} // namespace krylith
