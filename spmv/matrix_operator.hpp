// A sparse matrix on a device group, as an operator of solvers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/halo_plan.hpp>
#include <krylith/spmv/local_matrix.hpp>
#include <krylith/spmv/value_gather.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// How x gets to the devices that need it.
enum class operator_kind {
    automatic, ///< halo where ghosts are few (under n / 8 on every device), else nz
    nz,        ///< vectors replicated; each device multiplies its rows and sends them to all others
    halo       ///< vectors owned; only the entries that other devices reference move
};

/// The format of a device's block.
enum class local_kind {
    automatic, ///< CUDA: sell up to 10% padding, else csr; host: csr
    csr,
    sell,
    vendor ///< cuSPARSE
};

[[nodiscard]] const char* to_string(operator_kind kind) noexcept;
[[nodiscard]] const char* to_string(local_kind kind) noexcept;
/// Throws usage_error naming the nearest valid name.
[[nodiscard]] operator_kind parse_operator_kind(std::string_view name);
[[nodiscard]] local_kind parse_local_kind(std::string_view name);

struct operator_options {
    operator_kind kind = operator_kind::automatic;
    local_kind local = local_kind::automatic;
    /// Use arrays that lie on the devices in place (csr_part, matrix_parts.hpp). No effect on
    /// matrices in host memory.
    bool borrow = false;
};

template <class T>
struct matrix_source;

/// Makes a device's block that is not from a matrix: (layout, rank, entries of x held there).
template <class T>
using block_maker =
    std::function<std::unique_ptr<local_matrix<T>>(const layout&, int, std::int64_t)>;

/// y = alpha A x + beta y for a square matrix whose rows are dealt to devices in ranges of equal
/// nonzeros. beta = 0 never reads y. Setup costs O(nnz) on the host and the upload.
template <class T>
class matrix_operator {
public:
    using value_type = T;

    virtual ~matrix_operator() = default;

    [[nodiscard]] const layout_handle& share_layout() const { return layout_; }
    [[nodiscard]] std::int64_t size() const { return layout_->size(); }
    /// A vector of the operator's layout, zero.
    [[nodiscard]] vector<T> make_vector(const std::string& item = "vectors") const {
        return vector<T>(layout_, item);
    }
    /// One that can be multiplied: with ghosts, where the operator has them.
    [[nodiscard]] virtual vector<T> make_operand(const std::string& item = "vectors") const = 0;

    /// Enqueues y = alpha A x + beta y; x is an operand, x and y differ. Each of `dots` has y as
    /// one factor and is computed in the same pass (at most max_spmv_dots).
    virtual void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                       std::span<const reduction_into<T>> dots = {}) const = 0;

    /// New values on the same pattern, in the order of the matrix that this was built from.
    void update(std::span<const T> values);

    /// The same from the devices' memory, without a copy through the host: values[rank] has those
    /// of the rank's rows (of its entries, if built from coordinates). Borrowed values are from now
    /// on read there. Stream-ordered.
    void update_on_devices(std::span<const T* const> values);

    /// Enqueues d = the main diagonal, 0 where no entry is; d is of this layout, and all its copies
    /// are written. Throws usage_error for a matrix-free operator.
    void diagonal(vector<T>& d) const;

    [[nodiscard]] operator_kind kind() const { return kind_; }
    [[nodiscard]] std::string local_name() const { return blocks_.front()->name(); }
    /// The block of a device.
    [[nodiscard]] const local_matrix<T>& block(int rank) const {
        return *blocks_[static_cast<std::size_t>(rank)];
    }
    /// Bytes that one product reads of the matrix on a device.
    [[nodiscard]] std::int64_t matrix_bytes(int rank) const {
        return blocks_[static_cast<std::size_t>(rank)]->matrix_bytes();
    }
    /// Entries that a device receives for one product.
    [[nodiscard]] virtual std::int64_t received(int rank) const = 0;
    /// Whether a recorded loop may contain it.
    [[nodiscard]] bool recordable() const { return blocks_.front()->recordable(); }

    /// From now on updates take values in the order of each rank's assembly; [ranks].
    void gather_by(std::vector<value_gather<T>> gathers) { gathers_ = std::move(gathers); }

protected:
    matrix_operator(operator_kind kind, layout_handle where)
        : kind_(kind), layout_(std::move(where)) {}
    matrix_operator(operator_kind kind, layout_handle where, const matrix_source<T>& source);

    /// The arguments that both operators share, after checking x, y and the dots.
    [[nodiscard]] spmv_arguments<T> arguments(execution& run, int rank, T alpha, const vector<T>& x,
                                              T beta, vector<T>& y,
                                              std::span<const reduction_into<T>> dots) const;
    /// Checks, opens the operation and publishes the dots.
    void open(execution& run, const vector<T>& x, const vector<T>& y,
              std::span<const reduction_into<T>> dots) const;

    operator_kind kind_;
    layout_handle layout_;
    /// New values of a rank, from memory of its device.
    void take(std::size_t rank, const T* values);
    /// Values that update() takes for a rank.
    [[nodiscard]] std::int64_t update_size(std::size_t rank) const {
        return gathers_.empty() ? first_nonzero_[rank + 1] - first_nonzero_[rank]
                                : gathers_[rank].entries();
    }

    std::vector<std::int64_t> first_nonzero_; // [ranks + 1]; empty: matrix-free
    std::vector<value_gather<T>> gathers_;    // [ranks], or empty: updates are in CSR order
    std::vector<std::unique_ptr<local_matrix<T>>> blocks_;
};

/// The rows of each device: equal nonzeros, on whole warps where there are many rows.
[[nodiscard]] row_partition deal_rows(std::span<const std::int64_t> row_offsets, int devices);

/// What operator_kind::automatic takes: halo or nz.
[[nodiscard]] operator_kind automatic_kind(const halo_plan& plan);

/// Throws usage_error for a matrix that is not square, an empty group, or a format that the devices
/// don't have; device_error where memory is short. The matrix may be freed afterwards.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, const csr_view<T>& matrix,
              const operator_options& options = {});

template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, const csr_matrix<T>& matrix,
              const operator_options& options = {}) {
    return make_operator(group, csr_view<T>(matrix), options);
}

extern template class matrix_operator<double>;
extern template class matrix_operator<float>;
extern template std::unique_ptr<matrix_operator<double>>
make_operator(const device_group&, const csr_view<double>&, const operator_options&);
extern template std::unique_ptr<matrix_operator<float>>
make_operator(const device_group&, const csr_view<float>&, const operator_options&);

} // namespace krylith
