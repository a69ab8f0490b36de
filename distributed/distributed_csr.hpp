// A sparse matrix in compressed rows over the devices of a group, for work that makes matrices of
// matrices: products, transposition, coarse levels of multigrid; and what refers to a matrix
// wherever it lies. spmv/matrix_parts.hpp makes operators of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/unmoved.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith {

/// Row offsets or columns of either width. At most one pointer is set.
struct index_array {
    const std::int32_t* narrow = nullptr;
    const std::int64_t* wide = nullptr;

    index_array() = default;
    index_array(std::nullptr_t) {}                    // NOLINT: none
    index_array(const std::int32_t* p) : narrow(p) {} // NOLINT: either pointer is an array
    index_array(const std::int64_t* p) : wide(p) {}   // NOLINT

    [[nodiscard]] const void* data() const noexcept {
        return wide != nullptr ? static_cast<const void*>(wide) : narrow;
    }
};

/// Consecutive rows of a matrix, each array in the memory of the device that is to have them or of
/// the host. The entries of row i are [row_offsets[i], row_offsets[i + 1]) - row_offsets[0] of the
/// other arrays, so that a part of larger arrays can be given. Columns are those of the whole
/// matrix, from 0, in any order; duplicates add up.
template <class T>
struct csr_part {
    std::int64_t rows = 0;
    index_array row_offsets = {};    ///< [rows + 1]
    index_array column_indices = {}; ///< [nonzeros of these rows]
    const T* values = nullptr;       ///< [nonzeros of these rows]
};

/// Whether a matrix copies the values of its rows, or reads those of the caller, who keeps them for
/// as long as it is used.
enum class part_values { copied, borrowed };

/// Rank k has the rows row_owners().owned(k) on its device, as a device_csr whose columns are local
/// ones: those that the rows refer to and those that the rank owns, numbered in the order of their
/// global numbers (local_columns). Numbers so ascend where global ones do, and what kernels for one
/// device compute of a row has the same bits on any number of devices. On one rank local numbers
/// are global ones. Bytes on a device: those of its block, and 8 a ghost. Constructors, copies,
/// rows_ascend(), update() and download() are collective. Move-only.
template <class T>
class distributed_csr {
public:
    distributed_csr() = default;
    /// Uploads `a`, which each driver has whole: each rank its rows, whose entries keep their
    /// order. Waits for the devices. Throws input_error as validate() does, and usage_error for
    /// partitions that are not of the rows and columns of `a` on the ranks of the group.
    distributed_csr(const communicator& comm, const csr_view<T>& a, row_partition rows,
                    row_partition columns);
    /// Copies rows, parts[k] those of rank k, with global columns, of which there may be more than
    /// 32 bits number where each rank has fewer, ghosts included. Entries keep their order:
    /// products want ascending columns (rows_ascend(), sorted_rows of distributed_products.hpp).
    /// Waits for the devices. Values that are borrowed must lie on the devices. Throws usage_error
    /// for another number of parts and for pointers that are null or of another device, and
    /// input_error for offsets that descend and for columns out of range, naming the row of the
    /// whole matrix.
    distributed_csr(const communicator& comm, std::span<const csr_part<T>> parts,
                    row_partition columns, part_values values = part_values::copied);
    /// Takes blocks that are right: blocks[k].columns() is numbers_of[k].count(). Throws
    /// usage_error where sizes differ. Where this, a copy or with_values() throws it does so for
    /// one driver alone, unless it is called inside communicator::together().
    distributed_csr(const communicator& comm, row_partition rows, row_partition columns,
                    std::vector<device_csr<T>> blocks, std::vector<local_columns> numbers_of);

    [[nodiscard]] const communicator& comm() const { return *comm_; }
    [[nodiscard]] const row_partition& row_owners() const noexcept { return rows_; }
    [[nodiscard]] const row_partition& column_owners() const noexcept { return columns_; }
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_.rows(); }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_.rows(); }
    [[nodiscard]] std::int64_t nonzeros() const noexcept {
        return std::accumulate(nonzeros_of_.begin(), nonzeros_of_.end(), std::int64_t{0});
    }
    /// [ranks] the nonzeros of each rank's rows, whoever drives it.
    [[nodiscard]] std::span<const std::int64_t> nonzeros_of() const noexcept {
        return nonzeros_of_;
    }
    /// The most bytes that it keeps on a device.
    [[nodiscard]] std::int64_t bytes() const noexcept;
    /// Whether columns ascend strictly in each row. Reads 4 bytes a nonzero and 8 a row, and waits
    /// for the devices.
    [[nodiscard]] bool rows_ascend() const;

    [[nodiscard]] const device_csr<T>& block(int rank) const { return blocks_[at(rank)]; }
    [[nodiscard]] device_csr<T>& block(int rank) { return blocks_[at(rank)]; }
    /// [ranks] the values of each rank's rows, as matrix_operator::update_on_devices() takes them;
    /// null for a rank without entries.
    [[nodiscard]] std::vector<const T*> values() const;
    [[nodiscard]] const local_columns& columns_of(int rank) const { return columns_of_[at(rank)]; }
    /// [ranks]
    [[nodiscard]] std::span<const local_columns> all_columns() const noexcept {
        return columns_of_;
    }

    /// Uploads new values on the same pattern, in the order of the entries: rank after rank, as the
    /// csr_view that it was made of has them. What was made of the matrix takes them from it:
    ///
    ///     distributed_csr<double> matrix(group, arrays, rows, rows);
    ///     const auto a = make_operator(matrix);
    ///     amg<double> m(*a, matrix);
    ///     matrix.update(new_values); // they travel once
    ///     a->update_on_devices(matrix.values());
    ///     m.update(matrix);
    ///
    /// An operator that borrows them must be told, too. Returns when the host's array may be
    /// reused. Throws usage_error for another number of values, and where it borrows values or has
    /// none, and changes nothing then. Of several drivers each gives all values.
    void update(std::span<const T> values);
    /// The same with an array a rank, of block(rank).nonzeros() values in the memory of its device
    /// or of the host; those of other drivers' ranks are not looked at. Throws usage_error for
    /// another number of arrays, and for pointers that are null or of another device, too.
    void update_parts(std::span<const T* const> by_rank);
    /// The same with the values of the local ranks' rows in the memory of the host, one rank after
    /// the other: nothing has the length of all.
    void update_local(std::span<const T> values);

    /// Enqueues, on the device of the rank, the global columns of its entries:
    /// [block(rank).nonzeros()]. Throws input_error where 32 bits don't number all columns; so do
    /// download() and products of matrices (distributed_products.hpp).
    [[nodiscard]] buffer<std::int32_t> global_columns(int rank) const;
    /// Enqueues a copy, with values of its own or those of this matrix. Both have one pattern.
    [[nodiscard]] distributed_csr copy(part_values values = part_values::copied) const;
    /// Returns a matrix of the same pattern, which both have. fill(rank, values) enqueues its
    /// values on the device of the rank; `item` is that of their memory.
    template <class V, class Fill>
    [[nodiscard]] distributed_csr<V> with_values(const char* item, const Fill& fill) const {
        auto blocks = by_rank(*comm_, [&](int rank) {
            const auto count = static_cast<std::size_t>(block(rank).nonzeros());
            buffer<V> values(comm_->handle(rank), count, item);
            fill(rank, values.data());
            return block(rank).with_values(std::move(values));
        });
        return {*comm_, rows_, columns_, std::move(blocks), columns_of_};
    }
    /// Returns its pattern, which both have, as a matrix that has no values and of which only
    /// with_values() makes one.
    [[nodiscard]] distributed_csr without_values() const {
        auto blocks = by_rank(
            *comm_, [&](int rank) { return block(rank).with_values(borrowed_values<T>(nullptr)); });
        return {*comm_, rows_, columns_, std::move(blocks), columns_of_};
    }
    /// The whole matrix with global columns. Waits for the devices.
    [[nodiscard]] csr_matrix<T> download() const;

private:
    [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

    void count_nonzeros();
    /// Takes the values to which by_rank() points, in the memory of the device or of the host;
    /// `called` names the function that is at work.
    template <class ByRank>
    void take_values(const std::string& called, const ByRank& by_rank);
    /// [ranks] where the values of ranks [first, last) begin in one array of them.
    [[nodiscard]] std::vector<const T*> cut_values(const std::string& called, int first, int last,
                                                   std::span<const T> values) const;
    /// download() of a matrix that is on devices.
    void download_to(csr_matrix<T>& all) const;

    unmoved<std::shared_ptr<const communicator>> comm_; ///< null: empty
    row_partition rows_;
    row_partition columns_;
    std::vector<std::int64_t> nonzeros_of_; ///< [ranks], of all of them
    std::vector<device_csr<T>> blocks_;
    std::vector<local_columns> columns_of_;
};

/// Refers to a matrix in host memory, in the caller's order of rows; to the rows of a square matrix
/// that lie on the devices of a group, part k on device k; or to a distributed_csr. Each of them
/// converts to it. It copies nothing, and what it refers to must outlive it.
template <class T>
class matrix_ref {
public:
    template <class Matrix>
    requires std::convertible_to<const Matrix&, csr_view<T>>
    matrix_ref(const Matrix& matrix) // NOLINT: it stands for any of them
        : of_(csr_view<T>(matrix)) {}
    template <class Parts>
    requires std::convertible_to<const Parts&, std::span<const csr_part<T>>>
    matrix_ref(const Parts& parts) // NOLINT
        : of_(std::span<const csr_part<T>>(parts)) {}
    matrix_ref(const distributed_csr<T>& matrix) : of_(&matrix) {} // NOLINT

    /// The matrix in host memory; null where it lies on devices.
    [[nodiscard]] const csr_view<T>* on_host() const noexcept {
        return std::get_if<csr_view<T>>(&of_);
    }
    /// The matrix over a group; null where it is none.
    [[nodiscard]] const distributed_csr<T>* over_group() const noexcept {
        const auto* const found = std::get_if<const distributed_csr<T>*>(&of_);
        return found == nullptr ? nullptr : *found;
    }
    /// The parts; empty where it is something else.
    [[nodiscard]] std::span<const csr_part<T>> parts() const noexcept {
        const auto* const found = std::get_if<std::span<const csr_part<T>>>(&of_);
        return found == nullptr ? std::span<const csr_part<T>>() : *found;
    }

    [[nodiscard]] std::int64_t rows() const noexcept {
        if (on_host() != nullptr) return on_host()->rows;
        if (over_group() != nullptr) return over_group()->rows();
        std::int64_t sum = 0;
        for (const csr_part<T>& part : parts()) sum += part.rows;
        return sum;
    }
    [[nodiscard]] std::int64_t columns() const noexcept {
        if (on_host() != nullptr) return on_host()->columns;
        return over_group() != nullptr ? over_group()->columns() : rows();
    }

private:
    std::variant<csr_view<T>, std::span<const csr_part<T>>, const distributed_csr<T>*> of_;
};

} // namespace krylith
