// Incomplete LU factorisation without fill, ILU(0), of each device's block of A, as a
// preconditioner for unsymmetric systems.
//
//     const ilu0<double> m(*a, matrix);
//     const solve_result result = gmres(*a, b, x, {}, m);
#pragma once

#include <cstdint>
#include <string>

#include <krylith/precond/incomplete/elimination_order.hpp>
#include <krylith/precond/matrix/matrix_preconditioner.hpp>

namespace krylith {

struct ilu0_options {
    elimination_order order = elimination_order::automatic;
    /// Times the largest magnitude of a row is added to its diagonal entry, away from 0, before the
    /// factorisation: 1e-3 to 1 where a pivot is 0.
    double shift = 0;
    /// On several devices with owned vectors, so many times the rows that a device's rows refer to
    /// are added to its block (restricted additive Schwarz): fewer iterations, an exchange of r in
    /// each application, and each device solves with more rows.
    int overlap = 0;
};

/// M = L U with the pattern of A: (L U)_ij = a_ij wherever a_ij is an entry. It is for gmres,
/// fgmres, bicgstab, not for cg, which has ic0.
///
/// Blocks are those of the rows and columns that a device owns: entries that couple devices are
/// left out, so that counts of iterations grow with the number of devices, with `overlap` less.
/// Where vectors are replicated (operators nz, lra and others) each device has the factors of the
/// whole matrix, and counts are the same on any number. Colours are those of the whole matrix, by
/// an integer hash of rows, and don't depend on the devices either; overlapping blocks have their
/// own.
///
/// Factors are made on the devices, in T: in natural order rows wait for those that they depend on;
/// in the order of colours those of a colour are eliminated at once. An application is two
/// triangular solves on each device (sparse/triangular_solver.hpp), with a pass before and after
/// them that brings vectors into the order of colours and back.
///
/// Where all entries of A are below 2^-130 or one is above 2^130 (float: 2^-40, 2^40), M is 2^k of
/// that, which changes no iterates and keeps squares in range.
///
/// Constructors and updates throw usage_error for options out of range and for another matrix, and
/// input_error for entries that are not finite and
/// for a pivot that is 0, naming its row. A refused update changes nothing.
/// Sources: Meijerink, van der Vorst, Math. Comp. 31, 1977; Saad, Iterative Methods for Sparse
/// Linear Systems, section 10.3; Naumov, NVR-2011-001, 2011.
template <class T>
class ilu0 : public matrix_preconditioner<T> {
public:
    /// `matrix` is what the operator was made of, in the caller's order of rows. Columns may be in
    /// any order; entries at one place add up. An update may be of another matrix of the same size;
    /// where that has the same pattern nothing is analysed again, and the order stays.
    ilu0(const matrix_operator<T>& a, const matrix_ref<T>& matrix,
         const ilu0_options& options = {});

    /// Returns the text that makes it with the order that was taken, such as "ilu0:order=natural".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] static constexpr bool symmetric() { return false; }

    [[nodiscard]] const ilu0_options& options() const { return options_; }
    /// The order that was taken: never `automatic`.
    [[nodiscard]] elimination_order order() const;
    /// Why, and how the solves go, in words: "colours order, natural order has 766 levels: 7
    /// colours; solves: 7 levels of 2396745 rows: a launch for each".
    [[nodiscard]] std::string reason() const;
    /// The colours of rows; 0 in natural order.
    [[nodiscard]] int colours() const;
    /// The nonzeros of all devices' factors, which lie in one pattern: that of the blocks of A, and
    /// the diagonal.
    [[nodiscard]] std::int64_t nonzeros() const;

private:
    ilu0_options options_;
};

} // namespace krylith
