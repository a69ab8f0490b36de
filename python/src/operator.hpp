// An operator with all that its solves keep: what stands behind krylith.Operator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/precond/amg.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/sparse/external/product_call.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>

#include "arrays.hpp"
#include "device_rows.hpp"
#include "group.hpp"
#include "matrix.hpp"
#include "outcome.hpp"
#include "preconditioner.hpp"
#include "watch.hpp"

namespace krylith::python {

/// An array in the memory of the devices: its address and entries on each.
using device_array = std::vector<std::pair<std::uintptr_t, std::int64_t>>;

/// How a solve is called, beside its arrays.
struct solve_call {
    std::string solver;
    solver_options options;
    nb::object m; ///< None, "auto", a text, a named_preconditioner, or a function z = f(r)
    nb::object callback;
    std::string callback_type;
    bool signals = false;
};

/// Functions with a `driving` hold the devices, but not Python's lock, while they work.
template <class T>
class kept_operator {
public:
    using matrix_pointer = std::unique_ptr<host_matrix<T>>;
    using rows_pointer = std::unique_ptr<device_rows<T>>;
    using preconditioner_pointer = std::shared_ptr<named_preconditioner<T>>;

    /// `like` is null, or the operator whose vectors this one multiplies.
    kept_operator(std::shared_ptr<group_handle> group, matrix_pointer matrix,
                  const operator_options& options, const kept_operator* like);
    /// Of a function: y = f(x) of NumPy arrays on the host, or on a CUDA device f(x, columns, y,
    /// rows, stream) of addresses.
    kept_operator(std::shared_ptr<group_handle> group, std::int64_t rows, std::int64_t columns,
                  nb::object product, product_kind kind);
    /// Of rows that lie on the devices; of several processes each gives its own.
    kept_operator(std::shared_ptr<group_handle> group, rows_pointer rows,
                  const operator_options& options, const kept_operator* like);

    [[nodiscard]] const matrix_operator<T>& a() const { return *a_; }
    [[nodiscard]] const group_handle& group() const { return *group_; }
    [[nodiscard]] const csr_view<T>* matrix() const { return matrix_ ? &matrix_->view() : nullptr; }
    /// The entries that are kept; -1: none that are known.
    [[nodiscard]] std::int64_t nonzeros() const {
        return matrix_ ? matrix_->view().nnz() : rows_ ? rows_->nonzeros() : -1;
    }
    [[nodiscard]] nb::dict explain() const;
    /// The entries of y = A x and of x that this process has.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> local_shape() const;

    /// Computes y = A x.
    void multiply(const host_array<const T>& x, const host_array<T>& y);
    void multiply(const device_array& x, const device_array& y);
    void update(const host_array<const T>& values);
    /// Of a matrix that lies on the devices; `arrays` keeps the values.
    void update(const device_array& values, nb::object arrays);
    /// Makes the operator of A', on the same devices, and gives it A's values again.
    [[nodiscard]] std::unique_ptr<kept_operator> transposed();
    void update_transposed(kept_operator& transposed);

    [[nodiscard]] preconditioner_pointer make(std::string text, int block_size,
                                              std::vector<double> near_null);
    /// Makes multigrid of given levels; `options` is a text, "amg:degree=3".
    [[nodiscard]] preconditioner_pointer
    make_of_levels(std::span<const multigrid_level_matrices<T>> levels, const std::string& options);
    /// Gives an M of this operator the present values.
    void refresh(named_preconditioner<T>& m);
    /// Computes z = M^-1 r.
    void precondition(named_preconditioner<T>& m, const host_array<const T>& r,
                      const host_array<T>& z);

    [[nodiscard]] outcome solve(const host_array<const T>& b, const host_array<T>& x,
                                solve_call call);
    [[nodiscard]] outcome solve(const device_array& b, const device_array& x, solve_call call);
    /// Solves for columns that lie one after the other.
    [[nodiscard]] std::vector<outcome> solve_columns(const host_array<const T>& b,
                                                     const host_array<T>& x, int columns,
                                                     solve_call call);
    void release_workspace();

    /// The function of Python, for its collector of garbage: it may refer to this operator.
    [[nodiscard]] nb::handle product() const { return product_; }
    void drop_product() { product_.reset(); }

private:
    /// A host array as a vector: in place where that can be, else in a vector that is kept.
    struct placed {
        vector<T>* v = nullptr;
        std::optional<vector<T>> borrowed;
    };
    [[nodiscard]] placed place(const layout_handle& layout, std::span<T> array,
                               std::optional<vector<T>>& kept) const;
    [[nodiscard]] vector<T> borrow(const layout_handle& layout, const device_array& array) const;
    /// Checks that there is an array of this length on each device of this process; [ranks], null
    /// for those of others.
    [[nodiscard]] std::vector<T*> addresses(const device_array& array,
                                            const std::vector<std::int64_t>& lengths,
                                            bool reads_host = false) const;
    /// The entries of A; nothing for a function.
    [[nodiscard]] std::optional<matrix_ref<T>> entries() const {
        if (matrix_) return matrix_ref<T>(matrix_->view());
        if (rows_) return rows_->entries();
        return std::nullopt;
    }

    /// drive(), of which functions of Python that are called raise what they do, and not what
    /// follows from it.
    template <class Work>
    void drive_calls(const Work& work) {
        failure_.clear();
        try {
            drive(*group_, work);
        } catch (...) {
            failure_.rethrow();
            throw;
        }
        failure_.rethrow();
    }
    /// Of vectors; x is a domain vector, factor_, or its entries are copied there.
    void multiply(const vector<T>& x, vector<T>& y);
    [[nodiscard]] outcome run(const vector<T>& b, vector<T>& x, solve_call& call);
    void prepare_transpose();
    /// Gives an M of this operator the values of A.
    void follow_values(named_preconditioner<T>& m) const;
    void compute(const product_call<T>& call) const;
    [[nodiscard]] named_preconditioner<T>& by_name(const std::string& text);
    [[nodiscard]] preconditioner_function<T> calls(nb::handle function);

    std::shared_ptr<group_handle> group_;
    matrix_pointer matrix_; ///< null where A isn't in host memory
    rows_pointer rows_;     ///< null where A isn't on the devices
    operator_options options_;
    nb::object product_;
    kept_failure failure_; ///< of a function that the devices call
    std::unique_ptr<matrix_operator<T>> a_;
    std::unique_ptr<matrix_operator<T>>
        replaced_; ///< by one with A', while Python holds an M of it
    bool gave_m_ = false;
    std::uint64_t values_ = 0; ///< how often values were updated
    std::optional<named_preconditioner<T>> m_;
    std::optional<vector<T>> b_, x_;              // of arrays that can't be borrowed
    std::optional<vector<T>> factor_, product_y_; // of products
    std::unique_ptr<column_solver<T>> columns_;
    std::string columns_of_; ///< what columns_ was made for
};

template <class T>
void bind_operator(nb::module_& m, const char* suffix);

extern template class kept_operator<double>;
extern template class kept_operator<float>;

} // namespace krylith::python
