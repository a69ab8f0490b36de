// Small matrices as rows of numbers, the form in which a test can state what it expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::test {

using dense = std::vector<std::vector<double>>;

template <class T>
dense to_dense(const csr_matrix<T>& csr) {
    dense result(static_cast<std::size_t>(csr.rows),
                 std::vector<double>(static_cast<std::size_t>(csr.columns), 0));
    for (std::size_t row = 0; row < result.size(); ++row) {
        for (auto k = csr.row_offsets[row]; k < csr.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            result[row][static_cast<std::size_t>(csr.column_indices[place])] +=
                static_cast<double>(csr.values[place]);
        }
    }
    return result;
}

/// Compares pattern and values (bitwise up to the sign of zero), looked up entry by entry.
template <class T>
bool symmetric(const csr_matrix<T>& csr) {
    const auto value_at = [&](std::int64_t row, std::int64_t column, T& value) {
        for (auto k = csr.row_offsets[static_cast<std::size_t>(row)];
             k < csr.row_offsets[static_cast<std::size_t>(row + 1)]; ++k) {
            if (csr.column_indices[static_cast<std::size_t>(k)] == column) {
                value = csr.values[static_cast<std::size_t>(k)];
                return true;
            }
        }
        return false;
    };
    for (std::int64_t row = 0; row < csr.rows; ++row) {
        for (auto k = csr.row_offsets[static_cast<std::size_t>(row)];
             k < csr.row_offsets[static_cast<std::size_t>(row + 1)]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            T mirrored{};
            if (!value_at(csr.column_indices[place], row, mirrored) ||
                mirrored != csr.values[place]) {
                return false;
            }
        }
    }
    return csr.rows == csr.columns;
}

} // namespace krylith::test
