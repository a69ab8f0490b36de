// Factors of products of matrices, each pair with the bug that it is there to surface, and the
// plain product.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// A and B with other values of the same pattern, and the plain products of all three pairs, which
/// take a sanitizer longer than what is tested: they are made once.
struct spgemm_case {
    spgemm_case(std::string text, csr_matrix<double> left, csr_matrix<double> right);

    std::string surfaces;
    csr_matrix<double> a, b, product;
    csr_matrix<float> single_a, single_b, single_product;
    csr_matrix<double> new_a, new_b, new_product;
};

[[nodiscard]] const std::vector<spgemm_case>& spgemm_cases();

/// Makes a matrix of random columns, which ascend strictly, with lengths(row) draws in each row.
[[nodiscard]] csr_matrix<double>
rows_of_lengths(std::int64_t rows, std::int64_t columns,
                const std::function<std::int64_t(std::int64_t)>& lengths, std::uint64_t seed);

/// C = A B by a dense row of sums: in the order of A's entries, products and sums rounded apart.
template <class T>
[[nodiscard]] csr_matrix<T> plain_product(const csr_matrix<T>& a, const csr_matrix<T>& b);

/// The same matrix with other values.
[[nodiscard]] csr_matrix<double> with_values(csr_matrix<double> a, std::uint64_t seed);

} // namespace krylith::testing
