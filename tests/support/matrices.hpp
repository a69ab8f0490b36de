// Matrices for tests, each with the bug that it is there to surface.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// Entries (row, column, value) in any order; equal places add up.
using triplets = std::vector<std::tuple<std::int64_t, std::int64_t, double>>;

[[nodiscard]] csr_matrix<double> from_triplets(std::int64_t n, const triplets& entries);

/// Makes a matrix from its rows, such as {{2, -1}, {-1, 2}}. Zeros are not stored.
[[nodiscard]] csr_matrix<double> from_dense(const std::vector<std::vector<double>>& rows);

[[nodiscard]] csr_matrix<double> diagonal_matrix(const std::vector<double>& diagonal);

/// Returns the permutation (P x)_i = x_((i + shift) mod n).
[[nodiscard]] csr_matrix<double> shift_matrix(std::int64_t n, std::int64_t shift);

/// Returns the tridiagonal matrix -1, 2, -1, which is SPD.
[[nodiscard]] csr_matrix<double> laplace_1d(std::int64_t n);

/// Returns a matrix with `per_row` places a row, drawn with repetition, with values in [-1, 1),
/// plus `diagonal`.
[[nodiscard]] csr_matrix<double> random_matrix(std::int64_t n, int per_row, double diagonal,
                                               std::uint64_t seed);

template <class To>
[[nodiscard]] csr_matrix<To> converted(const csr_matrix<double>& a) {
    csr_matrix<To> result{a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    for (const double v : a.values) result.values.push_back(static_cast<To>(v));
    return result;
}

struct battery_entry {
    std::string name;
    std::string surfaces; ///< the bug
    csr_matrix<double> matrix;
};

[[nodiscard]] const std::vector<battery_entry>& battery();

} // namespace krylith::testing
