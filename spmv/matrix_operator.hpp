// A sparse matrix on a device group, as an operator of solvers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/spmv/operator_options.hpp>
#include <krylith/spmv/source/value_gather.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// The cost and the effect of a new order. Ghosts are the entries that all devices together receive
/// for a product with operator halo, whichever operator was built.
struct reordering_report {
    reordering order = orders::none; ///< none: the rest of this report is 0
    double seconds = 0;              ///< time to find the order and to move the matrix
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

/// A function that makes a device's block from something other than a matrix: (layout, rank, number
/// of x's entries held there).
template <class T>
using block_maker =
    std::function<std::unique_ptr<device_matrix<T>>(const layout&, int, std::int64_t)>;

/// The operator y = alpha A x + beta y of a square matrix whose rows are partitioned by equal
/// nonzeros. The layout's rows say which rank counts which entries in dot products, and with halo
/// and nz also which rank computes them. beta = 0 never reads y. Setup costs O(nnz) on the host and
/// the upload.
template <class T>
class matrix_operator {
public:
    using value_type = T;

    virtual ~matrix_operator() = default;

    [[nodiscard]] const layout_handle& layout() const { return layout_; }
    [[nodiscard]] std::int64_t size() const { return layout_->size(); }
    /// Returns a vector of the operator's layout, filled with zeros.
    [[nodiscard]] vector<T> make_range_vector(const std::string& item = "vectors") const {
        return vector<T>(layout_, item);
    }
    /// Returns a vector that A can multiply: with ghosts, where the operator has them.
    [[nodiscard]] virtual vector<T>
    make_domain_vector(const std::string& item = "vectors") const = 0;

    /// Enqueues y = alpha A x + beta y. x is a domain vector; x and y share no memory. Each of
    /// `dots` has y as one factor and is computed in the same pass (at most max_spmv_dots). Throws
    /// usage_error for other vectors.
    virtual void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                       std::span<const reduction_into<T>> dots = {}) const = 0;

    /// Takes new values on the same pattern, in the order of the matrix that the operator was built
    /// from. Throws usage_error for another number of values and for a matrix-free operator.
    void update(std::span<const T> values);

    /// Takes new values from the devices' memory, without a copy through the host: values[rank] has
    /// those of the rank's rows (of its entries, if built from coordinates). Values that are
    /// borrowed are read there from then on. The update is ordered by the stream. Throws
    /// usage_error for 2nz, lra and lra-rc, and where rows are reordered, because a rank's values
    /// are then not those of the caller's rows.
    void update_on_devices(std::span<const T* const> values);

    /// Enqueues d = the main diagonal, 0 where it has no entry. d has this layout, and all its
    /// copies are written. Throws usage_error for a matrix-free operator.
    virtual void diagonal(vector<T>& d) const;

    [[nodiscard]] operator_kind kind() const { return kind_; }
    [[nodiscard]] std::string format_name() const { return blocks_.front()->name(); }
    /// Returns the products of each kernel so far, summed over devices; empty except for operator
    /// adaptive.
    [[nodiscard]] std::vector<kernel_use> kernel_uses() const;
    /// Returns the block of a device.
    [[nodiscard]] const device_matrix<T>& block(int rank) const {
        return *blocks_[static_cast<std::size_t>(rank)];
    }
    /// Returns the bytes that one product reads of the matrix on a device.
    [[nodiscard]] virtual std::int64_t matrix_bytes(int rank) const {
        return blocks_[static_cast<std::size_t>(rank)]->matrix_bytes();
    }
    /// Returns the number of entries that a device receives for one product.
    [[nodiscard]] virtual std::int64_t received(int rank) const = 0;
    /// Whether a recorded loop may contain the operator.
    [[nodiscard]] virtual bool recordable() const { return blocks_.front()->recordable(); }
    /// How entries cross devices: the transport that runs, never automatic.
    [[nodiscard]] virtual transport_kind transport() const;

    /// The predictions of operators::automatic and what was tuned (spmv/cost_model.hpp); null
    /// where neither was asked for, or where there was no choice on one device.
    [[nodiscard]] const operator_choice* choice() const { return choice_.get(); }
    void explain(std::shared_ptr<const operator_choice> choice) { choice_ = std::move(choice); }

    /// The order of rows; none unless operator_options::order asked for another.
    [[nodiscard]] const reordering_report& reordered() const { return reordered_; }
    /// Makes later updates take values in the caller's order: entry k here is the caller's
    /// source[k].
    void take_values_from(std::vector<std::int64_t> source, const reordering_report& report) {
        entry_source_ = std::move(source);
        reordered_ = report;
    }
    /// Makes later updates take values in the order of each rank's assembly; [ranks].
    void gather_by(std::vector<value_gather<T>> gathers) { gathers_ = std::move(gathers); }

protected:
    matrix_operator(operator_kind kind, layout_handle layout)
        : kind_(kind), layout_(std::move(layout)) {}
    matrix_operator(operator_kind kind, layout_handle layout, const matrix_source<T>& source);

    /// Returns the arguments that all operators share; `first` is the row of y where the block
    /// begins.
    [[nodiscard]] spmv_arguments<T> arguments(execution& run, int rank, T alpha, const vector<T>& x,
                                              T beta, vector<T>& y,
                                              std::span<const reduction_into<T>> dots,
                                              std::int64_t first) const;
    void check_product(const vector<T>& x, const vector<T>& y,
                       std::span<const reduction_into<T>> dots) const;
    void check_diagonal(const vector<T>& d) const;
    /// Checks the vectors, opens the operation and publishes the dots.
    void open(execution& run, const vector<T>& x, const vector<T>& y,
              std::span<const reduction_into<T>> dots) const;

    operator_kind kind_;
    layout_handle layout_;
    /// Hands all new values, in the order of the matrix, to the blocks.
    virtual void distribute(std::span<const T> values);
    /// Throws where update_on_devices() can't work.
    virtual void check_device_update() const {}
    /// Takes new values of a rank from memory of its device.
    void take(std::size_t rank, const T* values);
    /// Returns the number of values that update() takes for a rank.
    [[nodiscard]] std::int64_t update_size(std::size_t rank) const {
        return gathers_.empty() ? first_nonzero_[rank + 1] - first_nonzero_[rank]
                                : gathers_[rank].entries();
    }

    std::vector<std::int64_t> first_nonzero_; // [ranks + 1]; empty: matrix-free
    std::vector<value_gather<T>> gathers_;    // [ranks], or empty: updates are in CSR order
    std::vector<std::int64_t> entry_source_;  // [nnz], or empty: the caller's order is this one
    reordering_report reordered_;
    std::vector<std::unique_ptr<device_matrix<T>>> blocks_;
    std::shared_ptr<const operator_choice> choice_;
};

/// Returns the rows of each device: equal nonzeros, rounded to whole warps where there are many
/// rows.
[[nodiscard]] row_partition partition_rows(std::span<const std::int64_t> row_offsets, int devices);

/// Returns the operators that can be built, as the cost model ranks them (predict()): first the one
/// that operators::automatic takes (clear_choice()), then the others, fastest first.
[[nodiscard]] std::vector<operator_kind> ranked_operators(const pattern_statistics& statistics,
                                                          const machine_rates& rates);

/// Returns the number of rows of which boundaries between devices are multiples.
[[nodiscard]] std::int64_t row_alignment(std::int64_t rows, int devices);

/// Makes the operator of a matrix on a group. Throws usage_error for a matrix that is not square,
/// an empty group, or a format that the devices don't have, and device_error where memory is short.
/// The matrix may be freed afterwards.
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

/// Makes operator pcoo of coordinate entries in any order, which each device multiplies in that
/// order: the first device has the first entries, and so on, equally many each. Where entries lie
/// by rows or by columns a device owns the rows that begin on it, otherwise equally many rows,
/// whose results then come from all devices. Entries of the same place add up. update() takes
/// values in the order of `matrix`. It costs O(rows + entries) on the host, and keeps up to 16
/// bytes an entry there for update().
///
/// options.kind must be pcoo and order none; to_csr() makes a matrix for the other kinds. Throws
/// usage_error otherwise, and what make_operator of a csr_view throws.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                                const coo_matrix<T>& matrix,
                                                                const operator_options& options);

extern template class matrix_operator<double>;
extern template class matrix_operator<float>;

} // namespace krylith
