// A sparse matrix on a device group, as an operator of solvers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/distributed/source/dealt_values.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/spmv/facts/kept_facts.hpp>
#include <krylith/spmv/operator_options.hpp>
#include <krylith/spmv/table/reordering_report.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/kept/workspace_shelf.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

template <class T>
struct matrix_source;
struct operator_choice;

/// The operator y = alpha A x + beta y of an m x n matrix on a device group. y is of the range
/// layout, whose rows are those of A, partitioned by equal nonzeros; x is of the domain layout,
/// whose rows are the columns of A, equally many a device. Of a square matrix both are one handle.
/// A layout's rows say which rank counts which entries in dot products, and with halo and nz those
/// of the range also which rank computes them. beta = 0 never reads y. Set-up costs O(nnz): on CUDA
/// devices the upload and little more, elsewhere on the host.
template <class T>
class matrix_operator {
public:
    using value_type = T;

    virtual ~matrix_operator() = default;

    /// The layout of x, whose size is the number of columns.
    [[nodiscard]] const layout_handle& domain_layout() const { return layouts_.domain; }
    /// The layout of y, whose size is the number of rows.
    [[nodiscard]] const layout_handle& range_layout() const { return layouts_.range; }
    /// Both, for make_operator() of a matrix between the same vectors.
    [[nodiscard]] const operator_layouts& layouts() const { return layouts_; }
    /// The layout of x and y, and its size. Throw usage_error where they have two (square_layout).
    [[nodiscard]] const layout_handle& layout() const {
        return square_layout(layouts_, "layout()");
    }
    [[nodiscard]] std::int64_t size() const { return layout()->size(); }
    [[nodiscard]] std::int64_t rows() const { return layouts_.range->size(); }
    [[nodiscard]] std::int64_t columns() const { return layouts_.domain->size(); }
    [[nodiscard]] const communicator& comm() const { return layouts_.range->comm; }
    /// The number of columns that vectors have, row by row, and the operator of the same matrix for
    /// vectors of one: more than 1 for operators that multiply several columns at once
    /// (spmv/column_operator.hpp).
    [[nodiscard]] virtual int columns_at_once() const { return 1; }
    [[nodiscard]] virtual const matrix_operator& single() const { return *this; }
    /// Returns a vector of the range layout, filled with zeros.
    [[nodiscard]] vector<T> make_range_vector(const std::string& item = "vectors") const {
        return vector<T>(layouts_.range, item);
    }
    /// Returns a vector of the domain layout that A can multiply: with ghosts, where A has them.
    [[nodiscard]] vector<T> make_domain_vector(const std::string& item = "vectors") const {
        return vector<T>(layouts_.domain, item, schedule_);
    }
    /// The entries of x that cross devices; null: no rank needs another's.
    [[nodiscard]] const put_schedule<T>* sends() const { return schedule_.get(); }
    /// The number of ghosts that lie before the entries of x that a device owns.
    [[nodiscard]] std::int64_t ghosts_below(int rank) const {
        return schedule_ ? schedule_->below(rank) : 0;
    }

    /// Enqueues y = alpha A x + beta y. x is a domain vector; x and y share no memory. Each of
    /// `dots` has y as one factor and is computed in the same pass (at most max_spmv_dots). Throws
    /// usage_error for other vectors.
    virtual void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                       std::span<const reduction_into<T>> dots = {}) const = 0;

    /// Enqueues y = alpha A' x + beta y as apply() does for A. x comes from
    /// transposed().make_domain_vector() and y is of the domain layout. A recorded loop may contain
    /// it if transposed().recordable(). Throws what transposed() and apply() throw.
    void apply_transposed(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                          std::span<const reduction_into<T>> dots = {}) const {
        transposed().apply(run, alpha, x, beta, y, dots);
    }
    /// Returns the operator of the transposed matrix, whose domain layout is the range layout of
    /// this one and the reverse, so that A' (A x) needs no copies. Throws usage_error unless
    /// operator_options::transposed_products was true.
    [[nodiscard]] const matrix_operator& transposed() const;
    [[nodiscard]] bool has_transposed() const { return transposed_ != nullptr; }

    /// Takes new values on the same pattern, in the order of the matrix that the operator was built
    /// from, also for transposed products. Throws usage_error for another number of values and for
    /// a matrix-free operator, and changes nothing then. Collective.
    void update(std::span<const T> values);

    /// Takes new values from the devices' memory, without a copy through the host: values[rank] has
    /// those of the rank's rows (of its entries, if built from coordinates). Values that are
    /// borrowed are read there from then on. The update is ordered by the stream. Throws
    /// usage_error for reordered rows, for pcoo of a coo_matrix, and with transposed products.
    /// Collective.
    void update_on_devices(std::span<const T* const> values);

    /// Enqueues d = the main diagonal, 0 where it has no entry, in all copies of d, which has this
    /// layout. Throws usage_error for a matrix-free operator, and where x and y have two layouts.
    virtual void diagonal(vector<T>& d) const;
    /// Whether diagonal() works for a square matrix.
    [[nodiscard]] bool knows_diagonal() const { return !first_nonzero_.empty(); }

    /// Computes r = b - s A x in doubled precision, rounded to T; s is a power of two, x a domain
    /// vector whose ghosts have been sent. All copies of r are written, its ghosts are not sent.
    /// Returns the sums of each of columns_at_once() columns; or nothing, with r as it was, where
    /// the entries of A are not known (matrix-free operators). It waits for the devices, costs more
    /// than a product, and is not recorded. Collective. kept() has the norms, unless it borrows.
    [[nodiscard]] std::vector<residual_sums>
    doubled_residual(T s, const vector<T>& x, const vector<T>& b, vector<T>& r) const;

    /// What facts_of() and solve() keep for their next call.
    [[nodiscard]] kept_facts& kept() const { return kept_; }
    /// Whether it borrows values (operator_options::borrow).
    [[nodiscard]] bool reads_in_place() const { return in_place_; }
    /// Forgets the facts: for borrowed values that the caller has changed.
    void drop_facts() const { kept_.forget_values(); }

    [[nodiscard]] operator_kind kind() const { return kind_; }
    [[nodiscard]] std::string format_name() const { return any_block().name(); }
    /// Returns the products of each kernel so far, summed over devices; empty except for operator
    /// adaptive.
    [[nodiscard]] std::vector<kernel_use> kernel_uses() const;
    /// Returns the block of a device.
    [[nodiscard]] const device_matrix<T>& block(int rank) const {
        return *blocks_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] const device_matrix<T>& any_block() const { return block(comm().first_local()); }
    /// Returns the bytes that one product reads of the matrix on a device.
    [[nodiscard]] virtual std::int64_t matrix_bytes(int rank) const {
        return blocks_[static_cast<std::size_t>(rank)]->matrix_bytes();
    }
    /// Returns the mean of device_matrix::narrow_fraction() over the blocks.
    [[nodiscard]] double narrow_fraction() const;
    /// Returns the number of entries that a device receives for one product.
    [[nodiscard]] virtual std::int64_t received(int rank) const {
        return schedule_ ? schedule_->ghosts(rank) : 0;
    }
    /// Whether a recorded loop may contain the operator.
    [[nodiscard]] virtual bool recordable() const { return any_block().recordable(); }
    /// What recorded loops remember of the operator; null where solves have to record it anew.
    [[nodiscard]] virtual const recording_identity* recording() const {
        return any_block().recorded_alike() ? &identity_ : nullptr;
    }
    /// Workspaces and recordings that solvers keep here for the next solve.
    [[nodiscard]] workspace_shelf& workspaces() const { return workspaces_; }
    /// Frees these, and the preconditioner that solve() keeps.
    void release_workspace() const { workspaces_.release(), kept_.preconditioner.reset(); }
    /// How entries cross devices: the transport that runs, never automatic.
    [[nodiscard]] virtual transport_kind transport() const;

    /// The predictions of operators::automatic and what was tuned (spmv/cost_model.hpp); null
    /// where neither was asked for, or where there was no choice on one device.
    [[nodiscard]] const operator_choice* choice() const { return choice_.get(); }
    void explain(std::shared_ptr<const operator_choice> choice) { choice_ = std::move(choice); }

    /// The order of rows; none unless operator_options::order asked for another.
    [[nodiscard]] const reordering_report& reordered() const { return reordered_; }
    /// Makes later updates take the caller's order: entry k here is the caller's source[k].
    void take_values_from(std::vector<std::int64_t> source, const reordering_report& report) {
        entry_source_ = std::move(source);
        reordered_ = report;
    }
    /// Makes updates take values in the order of the entries of an assembly, which it keeps.
    void assemble_by(std::unique_ptr<distributed_assembly<T>> from) { assembly_ = std::move(from); }
    /// Makes transposed products possible. Value k of the transposed matrix is number source[k] of
    /// those that update() takes; an empty source says that both are in one order.
    void keep_transposed(std::unique_ptr<matrix_operator> transposed,
                         std::vector<std::int64_t> source) {
        transposed_ = std::move(transposed);
        transposed_source_ = std::move(source);
    }

protected:
    matrix_operator(operator_kind kind, operator_layouts layouts)
        : kind_(kind), layouts_(std::move(layouts)) {}
    matrix_operator(operator_kind kind, operator_layouts layouts, const matrix_source<T>& source);

    /// Returns the arguments that all operators share; `first` is the row of y where the block
    /// begins.
    [[nodiscard]] spmv_arguments<T> arguments(execution& run, int rank, T alpha, const vector<T>& x,
                                              T beta, vector<T>& y,
                                              std::span<const reduction_into<T>> dots,
                                              std::int64_t first) const;
    /// Throws usage_error unless x has the ghosts that products read.
    void check_ghosts(const vector<T>& x) const;
    void check_product(const vector<T>& x, const vector<T>& y,
                       std::span<const reduction_into<T>> dots) const;
    void check_diagonal(const vector<T>& d) const;
    /// The entry of x that has local number 0 on a device.
    [[nodiscard]] const T* local_entries(const vector<T>& x, int rank) const {
        return x.data(rank) - ghosts_below(rank);
    }
    /// Enqueues doubled_residual(). Returns where the sums of the blocks will be, or nothing.
    [[nodiscard]] virtual std::vector<buffer<residual_sums>>
    enqueue_residual(T s, const vector<T>& x, const vector<T>& b, vector<T>& r) const;
    /// Returns the operands on a device.
    [[nodiscard]] residual_operands<T> residual_on(int rank, T s, const vector<T>& x,
                                                   const vector<T>& b, vector<T>& r) const;
    /// Checks the vectors, opens the operation and publishes the dots.
    void open(execution& run, const vector<T>& x, const vector<T>& y,
              std::span<const reduction_into<T>> dots) const;

    operator_kind kind_;
    operator_layouts layouts_;
    std::shared_ptr<const put_schedule<T>> schedule_; ///< null: no rank needs another's entries
    dealt_values<T> dealt_;                           ///< takes new values for the blocks
    /// Gives new values, in the caller's order, to the transposed operator.
    void update_transposed(std::span<const T> values);
    /// Gives the blocks values that lie on the devices, [ranks], as update_on_devices() takes them.
    void take(std::span<const T* const> values);
    /// Gives the blocks values of the ranks' rows in CSR order, or all values in host memory.
    virtual void give(std::span<const T* const> in_rows);
    virtual void give(std::span<const T> all) { dealt_.bring(comm(), all); }
    /// Returns the number of values that update() takes for a rank.
    [[nodiscard]] std::int64_t update_size(std::size_t rank) const {
        return assembly_ == nullptr ? first_nonzero_[rank + 1] - first_nonzero_[rank]
                                    : assembly_->entries(static_cast<int>(rank));
    }

    std::vector<std::int64_t> first_nonzero_;           // [ranks + 1]; empty: matrix-free
    std::unique_ptr<distributed_assembly<T>> assembly_; // null: updates are in CSR order
    std::vector<std::int64_t> entry_source_; // [nnz], or empty: the caller's order is this one
    reordering_report reordered_;
    std::unique_ptr<matrix_operator> transposed_; // null unless transposed products were asked for
    std::vector<std::int64_t> transposed_source_; // [nnz], or empty: values are in one order
    std::vector<std::unique_ptr<device_matrix<T>>> blocks_;
    std::shared_ptr<const operator_choice> choice_;
    mutable kept_facts kept_;
    bool in_place_ = false; ///< blocks read the caller's arrays of values
    recording_identity identity_;
    mutable workspace_shelf workspaces_; // the last member: workspaces end before the operator
};

/// Makes the operator of an m x n matrix on a group. Collective. Throws usage_error for an empty
/// group, a format that the devices don't have, and another order of rows unless it is square;
/// device_error where memory is short. The matrix may be freed afterwards. While it works a CUDA
/// device needs 8 bytes a row, 4 a nonzero (8 on several devices, pcsc 24) and 64 MB more.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const communicator& comm, const csr_view<T>& matrix,
              const operator_options& options = {});

/// Makes the operator of a matrix whose x and y are vectors of other operators: a prolongation from
/// the vectors of a coarse matrix to those of a fine one,
///
///     const auto p = make_operator({coarse->layout(), fine->layout()}, prolongation);
///
/// a preconditioner's matrix on the vectors of a solve, or one in another precision. Where a layout
/// has an order of rows (operator_options::order of the other operator), rows or columns of the
/// matrix are brought into it: update() takes values in the caller's order, and 8 bytes a nonzero
/// stay in host memory. Devices compute the rows that the range layout says, however many nonzeros
/// they have. options.kind must be automatic, which takes halo where vectors are owned and nz where
/// they are replicated, or an operator with such vectors; options.order must be none. Throws
/// usage_error otherwise, where a layout has another size than the matrix, and where the layouts
/// are on different devices.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, const csr_view<T>& matrix,
              const operator_options& options = {});
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, const csr_matrix<T>& matrix,
              const operator_options& options = {}) {
    return make_operator(layouts, csr_view<T>(matrix), options);
}

template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const communicator& comm, const csr_matrix<T>& matrix,
              const operator_options& options = {}) {
    return make_operator(comm, csr_view<T>(matrix), options);
}

/// Makes operator pcoo of coordinate entries in any order, which each device multiplies in that
/// order: the first device has the first entries, and so on, equally many each. Where entries lie
/// by rows a device owns the rows that begin on it, where they lie by columns it owns the columns
/// that do; otherwise equally many rows, whose results then come from all devices. Of a square
/// matrix it owns the columns of the same numbers as its rows, of others equally many. Entries of
/// the same place add up. update() takes values in the order of `matrix`. It costs O(rows +
/// entries) on the host, and keeps up to 16 bytes an entry there for update().
///
/// options.kind must be pcoo and order none; to_csr() makes a matrix for the other kinds. Throws
/// usage_error otherwise, and what make_operator of a csr_view throws.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>> make_operator(const communicator& comm,
                                                                const coo_matrix<T>& matrix,
                                                                const operator_options& options);

} // namespace krylith
