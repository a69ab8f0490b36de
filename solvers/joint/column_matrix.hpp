// A matrix on a device group for products with several columns at once, and the layout of these.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// The rows of each rank in CSR, and vectors of `columns` columns that lie row by row. Such a
/// vector is one of the layout with `columns` entries a row, so that the exchange of ghosts is that
/// of the halo with every place multiplied: the ghosts of all columns travel in one put.
template <class T>
class column_matrix {
public:
    /// Throws input_error for an invalid matrix, one that is not square, and where a rank has more
    /// than 2^31 - 1 entries of a vector, and with `jacobi` where a diagonal entry or its inverse
    /// is 0 or not finite. O(nnz) on the host.
    column_matrix(const device_group& group, const csr_view<T>& a, int columns, bool jacobi);

    struct local_rows {
        std::int64_t rows = 0;
        buffer<std::int64_t> offsets;
        buffer<std::int32_t> indices;
        buffer<T> values;
        buffer<T> inverse_diagonal; ///< empty without jacobi
    };

    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] const device_group& group() const { return layout_->group; }
    [[nodiscard]] const local_rows& local(int rank) const {
        return local_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] vector<T> make_range_vector() const { return vector<T>(layout_); }
    /// With room for ghosts.
    [[nodiscard]] vector<T> make_domain_vector() const {
        return vector<T>(layout_, "vectors", schedule_);
    }

private:
    int columns_;
    std::int64_t rows_;
    layout_handle layout_;
    std::shared_ptr<const put_schedule<T>> schedule_; // null: no rank needs another's entries
    std::vector<local_rows> local_;
};

extern template class column_matrix<double>;
extern template class column_matrix<float>;

} // namespace krylith
