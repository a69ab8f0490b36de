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
    automatic, ///< halo, or what is clearly faster by the cost model (cost_model.hpp)
    nz,        ///< vectors replicated; each device multiplies its rows and sends them to all others
    two_nz,    ///< the same in two blocks: the first travels while the second is computed
    lra,       ///< the same: short rows first, so that many results travel under the long rows
    lra_rc,    ///< the same, and some rows are computed by every device instead of being sent
    halo,      ///< vectors owned; only the entries that other devices reference move
    gather,    ///< vectors owned; all entries of an operand move to all devices as it is written
    pcsr,    ///< vectors owned; each device multiplies equally many nonzeros, cut within rows, and
             ///< what a row has on several is added up by its owner (pieces_operator.hpp)
    pcsc,    ///< the same, cut within columns: few entries of x move, and many partial sums of y
    pcoo,    ///< of a csr_view as pcsr; of a coo_matrix the entries as they lie (coo_operator.hpp)
    adaptive ///< as halo; while x is sparse, only columns where it has entries are multiplied, and
             ///< the host looks at x before each product: no recorded loops (adaptive_block.hpp)
};

/// The format of a device's block.
enum class local_kind {
    automatic, ///< CUDA: by the lengths of rows (format_choice.hpp); host: csr
    csr,
    sell,
    merge, ///< csr, cut within rows too: equal work whatever the lengths of rows
    vendor ///< cuSPARSE
};

/// The order in which the devices have rows and columns. It goes unseen: vectors go up and down,
/// and values are updated, in the caller's.
enum class reordering {
    none,
    rcm,  ///< reverse Cuthill-McKee: what is coupled lies together (partition/reordering.hpp)
    metis ///< a part for each device with few ghosts, and rcm inside (partition/metis_order.hpp)
};

/// How results of a replicated operator get to the other devices.
enum class transfer_kind {
    automatic, ///< stores where all devices reach each other directly, else copies
    stores,    ///< the kernel that computes a result stores it into every copy
    copies,    ///< copy engines, beside the kernels; no recorded loops
    nccl       ///< grouped ncclSend and ncclRecv, beside the kernels; no recorded loops
};

[[nodiscard]] const char* to_string(operator_kind kind) noexcept;
[[nodiscard]] const char* to_string(local_kind kind) noexcept;
[[nodiscard]] const char* to_string(reordering order) noexcept;
[[nodiscard]] const char* to_string(transfer_kind kind) noexcept;
/// Throws usage_error naming the nearest valid name.
[[nodiscard]] operator_kind parse_operator_kind(std::string_view name);
[[nodiscard]] local_kind parse_local_kind(std::string_view name);
[[nodiscard]] reordering parse_reordering(std::string_view name);
[[nodiscard]] transfer_kind parse_transfer_kind(std::string_view name);

struct operator_options {
    operator_kind kind = operator_kind::automatic;
    local_kind local = local_kind::automatic;
    /// Use arrays that lie on the devices in place (csr_part, matrix_parts.hpp). No effect on
    /// matrices in host memory.
    bool borrow = false;
    /// On several devices. With operator_kind::automatic those that the model ranks within 30% of
    /// the best are built one after the other and timed, and the fastest is kept, and remembered
    /// for this pattern and machine (tuning_file.hpp); lra and lra-rc with their tuned shares if
    /// these were found before. With lra and lra-rc the shares that are -1 are tuned so
    /// (share_trial.hpp); refused if none is, and for other kinds. Costs a second or so and up to
    /// nine setups.
    bool measure = false;
    /// Refused for csr_part, coo_part. Keeps 8 bytes a nonzero in host memory, for update().
    reordering order = reordering::none;
    /// Of nz, 2nz, lra and lra-rc; for halo it must be automatic.
    transfer_kind transfer = transfer_kind::automatic;
    double long_share = -1;      ///< lra, lra-rc: rows of the long block / rows; -1: usual_shares()
    double redundant_share = -1; ///< lra-rc: rows that every device computes / rows; -1: likewise
};

/// What a new order cost and brought. Ghosts: entries that devices receive for a product with
/// operator halo, all devices together, whichever operator was built.
struct reordering_report {
    reordering order = reordering::none; ///< none: the rest is 0
    double seconds = 0;                  ///< to find it and to move the matrix
    std::int64_t bandwidth_before = 0;
    std::int64_t bandwidth_after = 0;
    std::int64_t ghosts_before = 0;
    std::int64_t ghosts_after = 0;
};

template <class T>
struct matrix_source;
struct machine_rates;
struct operator_choice;
struct pattern_statistics;

/// Makes a device's block that is not from a matrix: (layout, rank, entries of x held there).
template <class T>
using block_maker =
    std::function<std::unique_ptr<local_matrix<T>>(const layout&, int, std::int64_t)>;

/// y = alpha A x + beta y for a square matrix whose rows are dealt to devices by equal nonzeros.
/// The layout's rows say who counts which entries of vectors, and for halo and nz who computes
/// them. beta = 0 never reads y. Setup costs O(nnz) on the host and the upload.
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

    /// Enqueues y = alpha A x + beta y; x is an operand, x and y share no memory. Each of `dots`
    /// has y as one factor and is computed in the same pass (at most max_spmv_dots).
    virtual void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                       std::span<const reduction_into<T>> dots = {}) const = 0;

    /// New values on the same pattern, in the order of the matrix that this was built from.
    void update(std::span<const T> values);

    /// The same from the devices' memory, without a copy through the host: values[rank] has those
    /// of the rank's rows (of its entries, if built from coordinates). Borrowed values are from now
    /// on read there. Stream-ordered. Throws usage_error for 2nz, lra and lra-rc, and where rows
    /// are reordered: a rank's values are then not the caller's rows.
    void update_on_devices(std::span<const T* const> values);

    /// Enqueues d = the main diagonal, 0 where no entry is; d is of this layout, and all its copies
    /// are written. Throws usage_error for a matrix-free operator.
    virtual void diagonal(vector<T>& d) const;

    [[nodiscard]] operator_kind kind() const { return kind_; }
    [[nodiscard]] std::string local_name() const { return blocks_.front()->name(); }
    /// Products by kernel so far, summed over devices; empty but for operator adaptive.
    [[nodiscard]] std::vector<kernel_use> kernel_uses() const;
    /// The block of a device.
    [[nodiscard]] const local_matrix<T>& block(int rank) const {
        return *blocks_[static_cast<std::size_t>(rank)];
    }
    /// Bytes that one product reads of the matrix on a device.
    [[nodiscard]] virtual std::int64_t matrix_bytes(int rank) const {
        return blocks_[static_cast<std::size_t>(rank)]->matrix_bytes();
    }
    /// Entries that a device receives for one product.
    [[nodiscard]] virtual std::int64_t received(int rank) const = 0;
    /// Whether a recorded loop may contain it.
    [[nodiscard]] virtual bool recordable() const { return blocks_.front()->recordable(); }
    /// How entries cross devices: the one that runs, never automatic.
    [[nodiscard]] virtual transfer_kind transfer() const;

    /// What operator_kind::automatic reckoned with, and what was tuned (cost_model.hpp); null where
    /// neither was asked for, or there was no choice: one device.
    [[nodiscard]] const operator_choice* choice() const { return choice_.get(); }
    void explain(std::shared_ptr<const operator_choice> choice) { choice_ = std::move(choice); }

    /// none, unless operator_options::order asked for another.
    [[nodiscard]] const reordering_report& reordered() const { return reordered_; }
    /// From now on updates take values in the caller's order: entry k here is its entry source[k].
    void take_values_from(std::vector<std::int64_t> source, const reordering_report& report) {
        entry_source_ = std::move(source);
        reordered_ = report;
    }
    /// From now on updates take values in the order of each rank's assembly; [ranks].
    void gather_by(std::vector<value_gather<T>> gathers) { gathers_ = std::move(gathers); }

protected:
    matrix_operator(operator_kind kind, layout_handle where)
        : kind_(kind), layout_(std::move(where)) {}
    matrix_operator(operator_kind kind, layout_handle where, const matrix_source<T>& source);

    /// The arguments that all operators share; `first` is where the block's rows begin in y.
    [[nodiscard]] spmv_arguments<T> arguments(execution& run, int rank, T alpha, const vector<T>& x,
                                              T beta, vector<T>& y,
                                              std::span<const reduction_into<T>> dots,
                                              std::int64_t first) const;
    void check_product(const vector<T>& x, const vector<T>& y,
                       std::span<const reduction_into<T>> dots) const;
    void check_diagonal(const vector<T>& d) const;
    /// Checks, opens the operation and publishes the dots.
    void open(execution& run, const vector<T>& x, const vector<T>& y,
              std::span<const reduction_into<T>> dots) const;

    operator_kind kind_;
    layout_handle layout_;
    /// All new values, in the order of the matrix, to the blocks.
    virtual void distribute(std::span<const T> values);
    /// Throws where update_on_devices() can't work.
    virtual void check_device_update() const {}
    /// New values of a rank, from memory of its device.
    void take(std::size_t rank, const T* values);
    /// Values that update() takes for a rank.
    [[nodiscard]] std::int64_t update_size(std::size_t rank) const {
        return gathers_.empty() ? first_nonzero_[rank + 1] - first_nonzero_[rank]
                                : gathers_[rank].entries();
    }

    std::vector<std::int64_t> first_nonzero_; // [ranks + 1]; empty: matrix-free
    std::vector<value_gather<T>> gathers_;    // [ranks], or empty: updates are in CSR order
    std::vector<std::int64_t> entry_source_;  // [nnz], or empty: the caller's order is this one
    reordering_report reordered_;
    std::vector<std::unique_ptr<local_matrix<T>>> blocks_;
    std::shared_ptr<const operator_choice> choice_;
};

/// The rows of each device: equal nonzeros, on whole warps where there are many rows.
[[nodiscard]] row_partition deal_rows(std::span<const std::int64_t> row_offsets, int devices);

/// Those that can be built, of what the cost model predicts (predict()): the one that
/// operator_kind::automatic takes (clear_choice()), then the others, fastest first.
[[nodiscard]] std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                                          const machine_rates& rates);

/// Where boundaries between devices lie: multiples of so many rows.
[[nodiscard]] std::int64_t row_alignment(std::int64_t rows, int devices);

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
