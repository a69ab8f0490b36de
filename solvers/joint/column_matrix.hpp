// A matrix on a device group for products with several columns at once, and the layout of these.
#pragma once

#include <cstdint>
#include <optional>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// The rows of each rank in CSR, and vectors of `columns` columns that lie row by row.
template <class T>
class column_matrix {
public:
    /// Devices own multiples of block_size rows. Takes O(nnz), as operator halo: on CUDA devices
    /// the upload and little more. Throws input_error for an invalid matrix and where a rank has
    /// more than 2^31 - 1 entries of a vector, usage_error for a matrix that is not square, and
    /// with_jacobi what jacobi throws.
    column_matrix(const communicator& comm, const csr_view<T>& a, int columns, bool with_jacobi,
                  int block_size);

    /// The operator for one column.
    [[nodiscard]] const matrix_operator<T>& single() const { return a_.single(); }
    /// That of all columns.
    [[nodiscard]] const matrix_operator<T>& of_columns() const { return a_; }
    [[nodiscard]] const communicator& comm() const { return a_.comm(); }
    /// Of the whole matrix.
    [[nodiscard]] std::int64_t rows() const { return single().rows(); }
    [[nodiscard]] std::int64_t rows(int rank) const {
        return single().range_layout()->rows.owned(rank).size();
    }
    /// The rows of a rank, with local columns.
    [[nodiscard]] compressed_rows<T> local(int rank) const { return a_.local(rank); }
    /// The entries of ghosts that lie before a domain vector on a rank.
    [[nodiscard]] std::int64_t entries_before(int rank) const { return a_.ghosts_below(rank); }
    /// The diagonal of M^-1 in a rank's rows; null without Jacobi.
    [[nodiscard]] const T* inverse_diagonal(int rank) const {
        return jacobi_ ? jacobi_->inverse(rank) : nullptr;
    }
    [[nodiscard]] vector<T> make_range_vector() const { return a_.make_range_vector(); }
    /// With room for ghosts.
    [[nodiscard]] vector<T> make_domain_vector() const { return a_.make_domain_vector("vectors"); }

private:
    column_operator<T> a_;
    std::optional<jacobi<T>> jacobi_;
};

} // namespace krylith
