// A matrix on a device group for products with several columns at once, and the layout of these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/sparse/csr/compressed_rows.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// The rows of each rank in CSR, and vectors of `columns` columns that lie row by row. Such a
/// vector is one of the layout with `columns` entries a row, so that the exchange of ghosts is that
/// of the halo with every place multiplied: the ghosts of all columns travel in one put.
template <class T>
class column_matrix {
public:
    /// Takes O(nnz), as operator halo: on CUDA devices the upload and little more. Throws
    /// input_error for an invalid matrix and where a rank has more than 2^31 - 1 entries of a
    /// vector, usage_error for a matrix that is not square, and with_jacobi what jacobi throws.
    column_matrix(const device_group& group, const csr_view<T>& a, int columns, bool with_jacobi);

    [[nodiscard]] const device_group& group() const { return layout_->group; }
    /// Of the whole matrix.
    [[nodiscard]] std::int64_t rows() const { return a_->rows(); }
    [[nodiscard]] std::int64_t rows(int rank) const {
        return a_->range_layout()->rows.owned(rank).size();
    }
    /// The rows of a rank, with local columns: owned, then ghosts.
    [[nodiscard]] compressed_rows<T> local(int rank) const {
        return a_->block(rank).compressed().value();
    }
    /// The diagonal of M^-1 in a rank's rows; null without Jacobi.
    [[nodiscard]] const T* inverse_diagonal(int rank) const {
        return jacobi_ ? jacobi_->inverse(rank) : nullptr;
    }
    [[nodiscard]] vector<T> make_range_vector() const { return vector<T>(layout_); }
    /// With room for ghosts.
    [[nodiscard]] vector<T> make_domain_vector() const {
        return vector<T>(layout_, "vectors", schedule_);
    }

private:
    std::unique_ptr<matrix_operator<T>> a_; // halo in CSR
    std::optional<jacobi<T>> jacobi_;
    layout_handle layout_;
    std::shared_ptr<const put_schedule<T>> schedule_; // null: no rank needs another's entries
};

extern template class column_matrix<double>;
extern template class column_matrix<float>;

} // namespace krylith
