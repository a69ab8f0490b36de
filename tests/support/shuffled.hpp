// Matrices whose order of rows is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// Returns the matrix with rows and columns in a random order.
inline csr_matrix<double> shuffled(const csr_matrix<double>& matrix, std::uint64_t seed) {
    testing::random_numbers random(seed);
    std::vector<std::int64_t> to(static_cast<std::size_t>(matrix.rows));
    std::iota(to.begin(), to.end(), 0);
    for (std::size_t i = to.size(); i > 1; --i)
        std::swap(to[i - 1], to[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    triplets entries;
    for (std::size_t row = 0; row < to.size(); ++row)
        for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const auto at = static_cast<std::size_t>(k);
            entries.emplace_back(to[row], to[static_cast<std::size_t>(matrix.column_indices[at])],
                                 matrix.values[at]);
        }
    return from_triplets(matrix.rows, entries);
}

} // namespace krylith::testing
