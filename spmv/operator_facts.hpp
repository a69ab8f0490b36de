// What is known of the operator of a square matrix: whether it is symmetric, and its diagonal.
// Solvers are chosen by these facts (solvers/automatic.hpp).
//
//     if (facts_of(*a).may_be_positive_definite()) ...
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Signs and sizes of the main diagonal.
struct diagonal_facts {
    std::int64_t length = 0;
    std::int64_t positive = 0; ///< entries above 0 with a finite inverse
    std::int64_t negative = 0; ///< the same below 0
    std::int64_t zeros = 0;    ///< entries that are 0 or not stored
    double least = 0;          ///< of the entries counted above, with sign; zeros are left out
    double most = 0;
    double smallest = 0; ///< least magnitude of the entries that aren't 0

    /// Whether every entry has a finite inverse.
    [[nodiscard]] bool invertible() const { return positive + negative == length; }
    [[nodiscard]] bool all_positive() const { return positive == length; }
    [[nodiscard]] bool constant() const { return least == most; }
    /// Returns the largest magnitude over the smallest, at least 1.
    [[nodiscard]] double span() const;
};

/// The facts of A, found from the products y = A x and z = A w with two fixed pseudo-random vectors
/// x and w, each entry divided by the square root of its row's diagonal entry in magnitude where A
/// knows its diagonal and that is not 0. So they are facts of B = |D|^-1/2 A |D|^-1/2, whose small
/// rows count as much as its large ones.
struct operator_facts {
    /// |w'A x - x'A w| over what it would be if A' had nothing to do with A: an estimate of
    /// ||B - B'|| / ||B|| in the Frobenius norm, good to a factor of 10. Rounding leaves a few
    /// epsilons of A's precision. NaN where values aren't finite.
    double asymmetry = 0;
    /// Whether the asymmetry is at most two thirds of the digits of A's precision.
    bool symmetric = false;
    /// Whether x'A x > 0 for both vectors; false proves that A is not positive definite.
    bool positive_forms = false;
    std::optional<diagonal_facts> diagonal; ///< none where the operator doesn't know it
    int products = 0;                       ///< with A, that these facts took
    double seconds = 0;

    /// Whether nothing here speaks against a symmetric positive definite matrix.
    [[nodiscard]] bool may_be_positive_definite() const {
        return symmetric && positive_forms && (!diagonal || diagonal->all_positive());
    }
};

/// The asymmetry up to which a matrix counts as symmetric: two thirds of the digits of T.
template <class T>
[[nodiscard]] double symmetry_tolerance();

/// Returns the facts. The first call costs two products, one read of the matrix for the diagonal
/// and four vectors for as long; the operator keeps the facts until update() or update_on_devices()
/// gives it new values, and drop_facts() forgets them where borrowed values have changed. They are
/// the same, but for rounding, on any devices. Throws usage_error for a matrix that isn't square.
/// The threads that share an operator call it one at a time. Collective. Devices wait for each
/// other as long as timeout_seconds; then it throws communication_error.
template <class T>
[[nodiscard]] const operator_facts&
facts_of(const matrix_operator<T>& a, double timeout_seconds = execution_options{}.timeout_seconds);

} // namespace krylith
