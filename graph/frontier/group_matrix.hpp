// A square matrix on a device group, for products with sparse vectors: rows are partitioned, and
// each device has its rows by rows and by columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>

namespace krylith::spmspv {

/// Lengths of the columns that belong to one device's rows (column i is of row i), by the parts of
/// all members: how much work an entry there is to each. Plain data for kernels.
struct column_lengths {
    const std::int32_t* offsets[max_ranks]; ///< [rows + 1] each, of by_columns()
    std::int32_t parts;

    [[nodiscard]] KRYLITH_HD std::int32_t of(int part, std::int64_t row) const {
        return offsets[part][row + 1] - offsets[part][row];
    }
};

/// Not copyable. M: double, float. Memory: that of the CSR-CSC pairs, and with several members
/// 4 n bytes on each.
template <class M>
class group_matrix {
public:
    /// A device that has rows. Where there are more devices than words of rows some have none, and
    /// take no part.
    struct local_rows {
        int rank;
        row_range rows;
        std::shared_ptr<const csr_csc_pair<M>> part;
        column_lengths lengths;
    };

    /// Rows are partitioned by equal nonzeros, boundaries at multiples of 32, so that no word of
    /// bits is cut. The matrix must pass validate(). Throws input_error unless it is square, and
    /// what csr_csc_pair throws. O(nnz), the upload, and 4 n bytes from each device, to all
    /// together.
    group_matrix(device_group group, const csr_view<M>& a);

    [[nodiscard]] const device_group& group() const noexcept { return group_; }
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] std::int64_t nonzeros() const noexcept { return nonzeros_; }
    /// In the order of rows; none for a matrix without rows.
    [[nodiscard]] const std::vector<local_rows>& local() const noexcept { return local_; }

private:
    void exchange_lengths();

    device_group group_;
    std::int64_t size_;
    std::int64_t nonzeros_;
    std::vector<local_rows> local_;
    std::vector<buffer<std::int32_t>> lengths_; ///< of each member: its columns by all parts
};

extern template class group_matrix<double>;
extern template class group_matrix<float>;

} // namespace krylith::spmspv
