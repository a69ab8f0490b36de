// The results that sparse products must give: by Eigen for numbers, by plain loops for the other
// semirings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <krylith/tests/support/dense.hpp>

#include <Eigen/Sparse>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmspv/product.hpp>

#include <krylith/tests/spmspv/vector_check.hpp>
#include <krylith/tests/support/oracle.hpp>

namespace krylith::testing {

/// The rows with an entry in a column where x has one, but for those that are skipped.
template <class M>
[[nodiscard]] std::vector<bool> reached_rows(const csr_matrix<M>& a,
                                             const std::vector<std::int32_t>& indices_of_x,
                                             const std::vector<bool>& skipped) {
    std::vector<bool> there(as_size(a.columns), false);
    for (const std::int32_t i : indices_of_x) there[as_size(i)] = true;
    std::vector<bool> reached(as_size(a.rows), false);
    for (std::size_t row = 0; row < reached.size(); ++row)
        for (auto k = as_size(a.row_offsets[row]); k < as_size(a.row_offsets[row + 1]); ++k)
            if (there[as_size(a.column_indices[k])] && !skipped[row]) reached[row] = true;
    return reached;
}

/// The matrix as S sees it: 1 everywhere where S doesn't read values.
template <class S, class M>
[[nodiscard]] csr_matrix<typename S::value_type> as_read(const csr_matrix<M>& a) {
    using T = typename S::value_type;
    csr_matrix<T> seen = {a.rows, a.columns, a.row_offsets, a.column_indices, {}};
    for (const M value : a.values)
        seen.values.push_back(S::reads_matrix ? static_cast<T>(value) : 1);
    return seen;
}

/// Computes alpha A x + beta y by Eigen in long double, with bounds of the rounding errors.
template <class T>
class number_reference {
    using column = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

public:
    explicit number_reference(const csr_matrix<T>& a) : matrix_(a.rows, a.columns) {
        std::vector<Eigen::Triplet<long double, std::int64_t>> entries;
        for (std::int64_t row = 0; row < a.rows; ++row) {
            const auto end = a.row_offsets[as_size(row) + 1];
            for (auto k = a.row_offsets[as_size(row)]; k < end; ++k)
                entries.emplace_back(row, a.column_indices[as_size(k)], a.values[as_size(k)]);
            terms_.push_back(static_cast<int>(end - a.row_offsets[as_size(row)]) + 1);
        }
        matrix_.setFromTriplets(entries.begin(), entries.end());
        magnitude_ = matrix_.cwiseAbs();
    }

    /// The product; beta = 0 does not read y.
    [[nodiscard]] std::vector<bounded_value> product(const entry_list<T>& x, T alpha, T beta,
                                                     const std::vector<T>& y) const {
        column dense = column::Zero(matrix_.cols());
        for (std::size_t k = 0; k < x.indices.size(); ++k) dense[x.indices[k]] = x.values[k];
        const column exact = matrix_ * dense;
        const column magnitude = magnitude_ * dense.cwiseAbs();
        std::vector<bounded_value> result;
        for (std::size_t row = 0; row < terms_.size(); ++row) {
            const auto i = static_cast<Eigen::Index>(row);
            const long double before =
                beta == T(0) ? 0.0L : static_cast<long double>(beta) * y[row];
            result.push_back(
                {alpha * exact[i] + before,
                 std::fabs(static_cast<long double>(alpha)) * magnitude[i] + std::fabs(before),
                 terms_[row]});
        }
        return result;
    }

private:
    Eigen::SparseMatrix<long double, Eigen::RowMajor, std::int64_t> matrix_;
    Eigen::SparseMatrix<long double, Eigen::RowMajor, std::int64_t> magnitude_;
    std::vector<int> terms_;
};

/// The product over exact semirings, where nothing is rounded twice.
template <class S, class M>
[[nodiscard]] std::vector<typename S::value_type>
exact_reference(const csr_matrix<M>& a, const entry_list<typename S::value_type>& x) {
    using T = typename S::value_type;
    const csr_matrix<T> seen = as_read<S>(a);
    std::vector<T> values(as_size(a.columns));
    std::vector<bool> there(as_size(a.columns), false);
    for (std::size_t k = 0; k < x.indices.size(); ++k) {
        values[as_size(x.indices[k])] = x.values[k];
        there[as_size(x.indices[k])] = true;
    }
    const std::string name = S::name;
    std::vector<T> y(as_size(a.rows), S::absent());
    for (std::size_t row = 0; row < y.size(); ++row)
        for (auto k = as_size(a.row_offsets[row]); k < as_size(a.row_offsets[row + 1]); ++k) {
            const std::int32_t column = a.column_indices[k];
            if (!there[as_size(column)]) continue;
            const T sum = seen.values[k] + values[as_size(column)];
            if (name == "or-and") y[row] = 1;
            if (name == "min-plus") y[row] = std::min(y[row], sum);
            if (name == "min-column") y[row] = std::min(y[row], static_cast<T>(column));
        }
    return y;
}

} // namespace krylith::testing
