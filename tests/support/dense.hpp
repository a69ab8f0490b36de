// Conversions of small systems to Eigen, the oracle of solvers.
#pragma once

#include <vector>

// gcc 12 warns of the undefined vectors in its own AVX-512 intrinsics.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/Dense>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

template <class T>
[[nodiscard]] Eigen::MatrixXd to_eigen(const csr_matrix<T>& a) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(a.rows, a.columns);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto r = static_cast<std::size_t>(row);
        for (auto k = a.row_offsets[r]; k < a.row_offsets[r + 1]; ++k)
            dense(row, a.column_indices[static_cast<std::size_t>(k)]) +=
                static_cast<double>(a.values[static_cast<std::size_t>(k)]);
    }
    return dense;
}

template <class T>
[[nodiscard]] Eigen::VectorXd to_eigen(const std::vector<T>& v) {
    Eigen::VectorXd result(static_cast<Eigen::Index>(v.size()));
    for (std::size_t i = 0; i < v.size(); ++i)
        result[static_cast<Eigen::Index>(i)] = static_cast<double>(v[i]);
    return result;
}

} // namespace krylith::testing
