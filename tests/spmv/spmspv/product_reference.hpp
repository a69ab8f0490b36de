// What sparse products must give: by Eigen for numbers, by plain loops for the other semirings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../../support/dense.hpp"

#include <Eigen/Sparse>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/spmspv/product.hpp>

#include "../../support/oracle.hpp"
#include "vector_check.hpp"

namespace krylith::testing {

/// Rows with an entry in a column where x has one, but for those that are skipped.
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

/// alpha A x + beta y by Eigen in long double, with what rounding may do.
template <class T>
class number_reference {
public:
    number_reference(const csr_matrix<T>& a, const entry_list<T>& x, T alpha, T beta,
                     const std::vector<T>& y) {
        using sparse = Eigen::SparseMatrix<long double, Eigen::RowMajor, std::int64_t>;
        using column = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
        std::vector<Eigen::Triplet<long double, std::int64_t>> entries;
        for (std::int64_t row = 0; row < a.rows; ++row)
            for (auto k = as_size(a.row_offsets[as_size(row)]);
                 k < as_size(a.row_offsets[as_size(row) + 1]); ++k)
                entries.emplace_back(row, a.column_indices[k], a.values[k]);
        sparse matrix(a.rows, a.columns);
        matrix.setFromTriplets(entries.begin(), entries.end());
        column dense = column::Zero(a.columns);
        for (std::size_t k = 0; k < x.indices.size(); ++k) dense[x.indices[k]] = x.values[k];
        column before = column::Zero(a.rows);
        if (beta != T(0))
            for (std::int64_t i = 0; i < a.rows; ++i) before[i] = y[as_size(i)];
        const column exact = static_cast<long double>(alpha) * (matrix * dense) + beta * before;
        const column magnitude =
            std::fabs(static_cast<long double>(alpha)) * (matrix.cwiseAbs() * dense.cwiseAbs()) +
            std::fabs(static_cast<long double>(beta)) * before.cwiseAbs();
        for (std::int64_t i = 0; i < a.rows; ++i) {
            const auto terms = a.row_offsets[as_size(i) + 1] - a.row_offsets[as_size(i)];
            values_.push_back({exact[i], magnitude[i], static_cast<int>(terms) + 1});
        }
    }
    [[nodiscard]] bool allows(std::size_t row, T value) const {
        return values_[row].template allows<T>(static_cast<double>(value));
    }

private:
    std::vector<bounded_value> values_;
};

/// The exact semirings, where nothing is rounded twice.
template <class S, class M>
[[nodiscard]] std::vector<typename S::value_type>
exact_reference(const csr_matrix<M>& a, const entry_list<typename S::value_type>& x) {
    using T = typename S::value_type;
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
            const T sum = static_cast<T>(a.values[k]) + values[as_size(column)];
            if (name == "or-and") y[row] = 1;
            if (name == "min-plus") y[row] = std::min(y[row], sum);
            if (name == "min-column") y[row] = std::min(y[row], static_cast<T>(column));
        }
    return y;
}

} // namespace krylith::testing
