// A matrix on one device by rows and by columns, which the eight kernels multiply by.
//
// It takes 2 nnz (4 + s) + 4 (m + n) bytes for values of s bytes, and on CUDA up to half a byte a
// nonzero for long rows. The columns are made on the device from the rows (SpTRANS), so that only
// the rows cross the link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/spmspv/csr_csc_pair/matrix_features.hpp>
#include <krylith/spmspv/csr_csc_pair/row_chunks.hpp>

namespace krylith::spmspv {

/// A matrix compressed by rows or by columns (its major indices), in memory of a device. Plain data
/// for kernels.
template <class T>
struct compressed_view {
    const std::int32_t* offsets; ///< [major_size + 1], the first is 0
    const std::int32_t* indices; ///< [nonzeros] the other index, ascending in each row or column
    const T* values;             ///< [nonzeros], or null for semirings that don't read them
    std::int32_t major_size;
    std::int32_t across;
    std::int32_t nonzeros;
};

/// The order of entries in rows whose columns don't ascend.
enum class entry_order {
    ascending, ///< canonical form: sorted, duplicates added
    as_given   ///< kept, for numerical products, which need no order; values can be updated
};

/// The pair; not copyable. T is double or float.
template <class T>
class csr_csc_pair {
public:
    using value_type = T;

    /// Takes rows [first_row, end_row) of a matrix, and all of its columns; row 0 here is first_row
    /// there. The matrix must pass validate(). Semirings whose first_suffices need
    /// entry_order::ascending. Throws usage_error for rows that the matrix doesn't have,
    /// input_error for sizes or nonzeros that 32-bit numbers don't reach, device_error where memory
    /// is short. O(nnz log(row length)) and the upload.
    csr_csc_pair(std::shared_ptr<krylith::device> device, const csr_view<T>& matrix,
                 std::int64_t first_row, std::int64_t end_row,
                 entry_order order = entry_order::ascending);
    csr_csc_pair(std::shared_ptr<krylith::device> device, const csr_view<T>& matrix)
        : csr_csc_pair(std::move(device), matrix, 0, matrix.rows) {}

    /// Takes new values on the same pattern, in the order of the rows that this was made from.
    /// Throws usage_error for another number of them, or where rows had to be sorted. O(nnz) on the
    /// device and the upload. It is enqueued, and on CUDA waited for: the transposition takes 8
    /// bytes a row and a column meanwhile, and where columns are scattered up to 16 a nonzero.
    void update(std::span<const T> values);
    /// Does the same from memory of the device.
    void update_on_device(const T* values);

    [[nodiscard]] krylith::device& device() const { return *device_; }
    [[nodiscard]] const std::shared_ptr<krylith::device>& handle() const { return device_.get(); }
    [[nodiscard]] std::int64_t rows() const noexcept { return features_.rows; }
    [[nodiscard]] std::int64_t columns() const noexcept { return features_.columns; }
    [[nodiscard]] std::int64_t nonzeros() const noexcept { return features_.nonzeros; }
    [[nodiscard]] const matrix_features& features() const noexcept { return features_; }

    [[nodiscard]] compressed_view<T> by_rows() const noexcept;
    [[nodiscard]] compressed_view<T> by_columns() const noexcept;

    /// The chunks of long rows for balanced products. Host devices have none.
    [[nodiscard]] row_chunks chunks() const noexcept;

private:
    void cut_rows(std::span<const std::int32_t> offsets);
    void make_columns();
    void check_update() const;

    unmoved<std::shared_ptr<krylith::device>> device_;
    matrix_features features_;
    bool sorted_ = false; ///< whether entries are in another order than given
    buffer<std::int32_t> row_offsets_;
    buffer<std::int32_t> column_indices_;
    buffer<T> row_values_;
    buffer<std::int32_t> column_offsets_;
    buffer<std::int32_t> row_indices_;
    buffer<T> column_values_;
    buffer<row_chunk> chunks_;
    buffer<double> chunk_sums_;
    buffer<std::uint32_t> chunk_marks_;
    buffer<unsigned> chunks_arrived_;
};

} // namespace krylith::spmspv
