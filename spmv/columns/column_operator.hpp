// Products of a matrix with several columns at once, as an operator between vectors of these
// columns, which lie row by row: what is made of operators and vectors works for k columns without
// a change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

template <class T>
class column_operator final : public matrix_operator<T> {
public:
    /// Takes over an operator halo in CSR. `layouts` are its layouts with `columns` entries a row
    /// (in_columns()), and columns is a number that there are kernels for. Downloads the lists of
    /// entries that are sent. Throws usage_error for other operators and layouts, and input_error
    /// where a rank has more than 2^31 - 1 entries of a vector.
    column_operator(std::unique_ptr<matrix_operator<T>> single, operator_layouts layouts,
                    int columns);

    [[nodiscard]] int columns_at_once() const override { return columns_; }
    [[nodiscard]] const matrix_operator<T>& single() const override { return *single_; }
    /// The rows of a rank, with local columns.
    [[nodiscard]] compressed_rows<T> local(int rank) const {
        return single_->block(rank).compressed().value();
    }

    /// Enqueues Y = alpha A X + beta Y, and reads the matrix once for all columns. Throws
    /// usage_error for dots: each column would have its own.
    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots = {}) const override;

private:
    void make();

    std::unique_ptr<matrix_operator<T>> single_;
    int columns_;
};

} // namespace krylith
