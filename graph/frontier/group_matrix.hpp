// A square matrix on a device group for products with sparse vectors. Rows are partitioned, and
// each device stores its rows in CSR and in CSC.
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

/// The lengths of the columns that belong to one device's rows (column i belongs to row i), split
/// by the parts of all devices: how many nonzeros an entry there meets on each. Plain data for
/// kernels.
struct column_lengths {
    const std::int32_t* offsets[max_ranks]; ///< [rows + 1] each, from by_columns()
    std::int32_t parts;

    [[nodiscard]] KRYLITH_HD std::int32_t of(int part, std::int64_t row) const {
        return offsets[part][row + 1] - offsets[part][row];
    }
};

/// The partitioned matrix. It is not copyable. M: double, float. Memory: that of the CSR-CSC pairs,
/// and on several devices 4 n bytes more on each.
template <class M>
class group_matrix {
public:
    /// A device with its rows. Where there are more devices than words of rows, some have none and
    /// take no part.
    struct local_rows {
        int rank;
        row_range rows;
        std::shared_ptr<const csr_csc_pair<M>> part;
        column_lengths lengths;
    };

    /// Partitions rows by equal nonzeros, at multiples of 32, so that no word of bits is cut. The
    /// matrix must pass validate(). Throws input_error unless it is square, and what csr_csc_pair
    /// throws. It costs O(nnz), the upload, and 4 n bytes from each device to all others together.
    group_matrix(device_group group, const csr_view<M>& a);

    [[nodiscard]] const device_group& group() const noexcept { return group_; }
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    [[nodiscard]] std::int64_t nonzeros() const noexcept { return nonzeros_; }
    /// The devices that have rows, in the order of rows; empty for a matrix without rows.
    [[nodiscard]] const std::vector<local_rows>& local() const noexcept { return local_; }
    /// Returns the rows of all devices, without values only their pattern. Waits.
    [[nodiscard]] csr_matrix<M> download(bool with_values = true) const;

private:
    void send_lengths();

    device_group group_;
    std::int64_t size_;
    std::int64_t nonzeros_;
    std::vector<local_rows> local_;
    std::vector<buffer<std::int32_t>> lengths_; ///< the lengths of each device's columns in all
                                                ///< parts
};

} // namespace krylith::spmspv
