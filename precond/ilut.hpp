// Incomplete LU factorisation with thresholds, ILUT(p, tau), of each device's block of A, as a
// preconditioner for hard systems that multigrid is not for: circuits, reservoirs, chemistry.
//
//     const ilut<double> m(*a, matrix);
//     const solve_result result = gmres(*a, b, x, {}, m);
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

enum class row_matching_use {
    automatic, ///< where a diagonal entry is missing, 0, or below 1% of the largest of its row
    on,
    off
};

struct ilut_options {
    /// Entries of the factors below drop times the mean magnitude of their row of A are dropped.
    /// 0 drops none but by `fill`.
    double drop = 1e-3;
    /// A row of L, and one of U, keeps at most `fill` times the mean number of entries of a row of
    /// A, or as many entries as it has itself, whichever is more: the largest ones.
    double fill = 5;
    /// Whether rows are permuted, and rows and columns scaled by powers of two, so that the largest
    /// entries come to the diagonal (match_rows()).
    row_matching_use matching = row_matching_use::automatic;
    /// As ilu0_options::overlap.
    int overlap = 0;
};

/// M = L U of the rows and columns that a device owns: entries that couple devices are left out, so
/// that counts of iterations grow with the number of devices, with `overlap` less. Where vectors
/// are replicated
/// (operators nz, lra and others) each device has the factors of the whole matrix, and counts are
/// the same on any number.
///
/// Factors are made on the host in fp64, one thread a device, and stored in T. An application is
/// two triangular solves on each device (sparse/triangular_solver.hpp), after a gather where rows
/// were permuted. M is not symmetric: it is for gmres, fgmres, bicgstab, not for cg.
///
/// Where all entries of A are below 2^-130 or one is above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range. Rows of A may be unsorted; entries
/// at one place add up.
///
/// Constructors and updates throw usage_error for options out of range and for another matrix, and
/// input_error for entries that are not finite and for factors that T can't hold. A refused update
/// changes nothing. Source: Saad, Numer. Linear Algebra Appl. 1, 1994; Duff, Koster, SIMAX 22,
/// 2001.
template <class T>
class ilut : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. An update may be
    /// of another matrix of the same size. Throws usage_error for one that lies on devices.
    ilut(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
         const ilut_options& options = {});

    /// Returns the text that makes it, such as "ilut:drop=0.001:fill=5".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] static constexpr bool symmetric() { return false; }

    [[nodiscard]] const ilut_options& options() const { return options_; }
    /// The nonzeros of L and U, without L's diagonal, of all devices.
    [[nodiscard]] std::int64_t nonzeros() const;
    /// The pivots that were 0 or tiny and were replaced: where there are many, M is poor.
    [[nodiscard]] std::int64_t replaced_pivots() const;

private:
    ilut_options options_;
};

} // namespace krylith
