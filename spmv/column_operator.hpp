// Products of a matrix with several columns at once, Y = alpha A X + beta Y, as an operator between
// vectors of these columns, which lie row by row: what is made of operators and vectors works for k
// columns without a change.
//
//     const column_operator<double> a(
//         make_operator(group, matrix, {.kind = operators::halo, .format = formats::csr}), 8);
//     auto x = a.make_domain_vector();
//     auto y = a.make_range_vector();
//     x.upload(values); // entry (i, j) is values[8 * i + j]
//     execution run(group, {});
//     put_ghosts(run, x);
//     a.apply(run, 1, x, 0, y);
//     run.flush();
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

template <class T>
class column_operator final : public matrix_operator<T> {
public:
    /// Takes over an operator halo in CSR, of a matrix in host memory, of parts or of a
    /// distributed_csr. `columns` is 2, 4, 8 or 16. Throws usage_error for other operators and
    /// numbers, and input_error where a rank has more than 2^31 - 1 entries of a vector.
    /// Collective.
    column_operator(std::unique_ptr<matrix_operator<T>> single, int columns);
    /// The same between vectors of layouts that there are: `layouts` are its layouts with `columns`
    /// entries a row (in_columns()). Downloads the lists of entries that are sent. Throws
    /// usage_error for other layouts, too.
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
    /// The layouts are read from the operator before it is moved.
    column_operator(const operator_layouts& layouts, std::unique_ptr<matrix_operator<T>>&& single,
                    int columns);
    void make();

    std::unique_ptr<matrix_operator<T>> single_;
    int columns_;
};

} // namespace krylith
