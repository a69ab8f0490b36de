// Facts of a generated matrix that tests check.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tests/support/dense.hpp>

namespace krylith::test {

/// A checksum that depends on every offset, column and bit of a value, and on where they stand.
inline std::uint64_t checksum(const csr_matrix<double>& a) {
    std::uint64_t sum =
        counter_hash(1, static_cast<std::uint64_t>(a.rows), static_cast<std::uint64_t>(a.columns));
    for (const std::int64_t offset : a.row_offsets) {
        sum = counter_hash(sum, static_cast<std::uint64_t>(offset));
    }
    for (std::size_t k = 0; k < a.values.size(); ++k) {
        sum = counter_hash(sum, static_cast<std::uint64_t>(a.column_indices[k]),
                           std::bit_cast<std::uint64_t>(a.values[k]));
    }
    return sum;
}

inline Eigen::MatrixXd to_eigen(const csr_matrix<double>& a) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(a.rows, a.columns);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row + 1)]; ++k) {
            result(row, a.column_indices[static_cast<std::size_t>(k)]) +=
                a.values[static_cast<std::size_t>(k)];
        }
    }
    return result;
}

/// The eigenvalues of the symmetric part, ascending.
inline Eigen::VectorXd eigenvalues(const csr_matrix<double>& a) {
    const Eigen::MatrixXd dense = to_eigen(a);
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(0.5 * (dense + dense.transpose()),
                                                          Eigen::EigenvaluesOnly)
        .eigenvalues();
}

inline std::int64_t length_of(const csr_matrix<double>& a, std::int64_t row) {
    return a.row_offsets[static_cast<std::size_t>(row + 1)] -
           a.row_offsets[static_cast<std::size_t>(row)];
}

inline std::vector<std::int32_t> columns_of(const csr_matrix<double>& a, std::int64_t row) {
    const auto begin = a.column_indices.begin() + a.row_offsets[static_cast<std::size_t>(row)];
    return {begin, begin + length_of(a, row)};
}

} // namespace krylith::test
