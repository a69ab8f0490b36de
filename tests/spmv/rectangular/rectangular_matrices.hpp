// Matrices that are not square, each with the bug that it is there to surface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/table/operators.hpp>

#include <krylith/tests/support/matrices.hpp>

namespace krylith::testing {

/// Makes a matrix of these entries, in any order; those of one row stay in order, also where they
/// are of one column.
[[nodiscard]] csr_matrix<double> rectangular_matrix(std::int64_t rows, std::int64_t columns,
                                                    const triplets& entries);

/// Returns a matrix with 0 to `most` places a row, drawn with repetition, with values in [-1, 1).
[[nodiscard]] csr_matrix<double> random_rectangular(std::int64_t rows, std::int64_t columns,
                                                    int most, std::uint64_t seed);

/// Returns linear interpolation from n points to 2 n - 1.
[[nodiscard]] csr_matrix<double> interpolation_1d(std::int64_t n);

/// Returns A', written down entry by entry.
[[nodiscard]] csr_matrix<double> plainly_transposed(const csr_matrix<double>& a);

[[nodiscard]] const std::vector<battery_entry>& rectangular_battery();

/// Returns all operators, and automatic.
[[nodiscard]] std::vector<operator_kind> all_kinds();

} // namespace krylith::testing
