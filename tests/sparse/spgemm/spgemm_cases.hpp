// Factors of products of matrices, each pair with the bug that it is there to surface, and the
// plain product.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

struct spgemm_case {
    std::string surfaces;
    csr_matrix<double> a;
    csr_matrix<double> b;
};

[[nodiscard]] const std::vector<spgemm_case>& spgemm_cases();

/// Makes a matrix of random columns, which ascend strictly, with lengths(row) draws in each row.
[[nodiscard]] csr_matrix<double>
rows_of_lengths(std::int64_t rows, std::int64_t columns,
                const std::function<std::int64_t(std::int64_t)>& lengths, std::uint64_t seed);

/// C = A B by a map for each row: sums in the order of A's entries, products and sums rounded
/// apart.
template <class T>
[[nodiscard]] csr_matrix<T> plain_product(const csr_matrix<T>& a, const csr_matrix<T>& b);

/// The same matrix with other values.
[[nodiscard]] csr_matrix<double> with_values(csr_matrix<double> a, std::uint64_t seed);

} // namespace krylith::testing
