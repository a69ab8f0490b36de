// Matrices for tests, each with the bug that it is there to surface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// A row, column or place as an index of arrays.
[[nodiscard]] constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}

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

/// The vector or matrix times a number.
[[nodiscard]] inline std::vector<double> times(std::vector<double> v, double by) {
    for (double& e : v) e *= by;
    return v;
}
[[nodiscard]] inline csr_matrix<double> times(csr_matrix<double> a, double by) {
    a.values = times(std::move(a.values), by);
    return a;
}

struct battery_entry {
    std::string name;
    std::string surfaces; ///< the bug
    csr_matrix<double> matrix;
};

[[nodiscard]] const std::vector<battery_entry>& battery();

} // namespace krylith::testing
