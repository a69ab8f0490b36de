// krylith as the linear solver of an MFEM program: in place of mfem::CGSolver and its like.
//
//     krylith::mfem_solver solver(group);
//     solver.SetRelTol(1e-11);
//     solver.SetMaxIter(10000);
//
// Then come SetOperator(matrix) with an mfem::SparseMatrix and Mult(b, x), as with any
// mfem::Solver. MFEM may be built with or without MPI, but matrices spread over MPI ranks
// (HypreParMatrix) are not supported.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mfem.hpp>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/adapters/host_arrays.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// The method behind an mfem_solver.
enum class mfem_method { cg, bicgstab, gmres };

/// An mfem::IterativeSolver on krylith's devices. SetRelTol, SetAbsTol, SetMaxIter, SetOperator,
/// Mult, iterative_mode, GetConverged, GetNumIterations and GetFinalNorm work as with MFEM's own.
/// Differences:
/// - Converged means ||b - A x|| <= max(rel_tol ||b||, abs_tol), recomputed from x, without the
///   preconditioner. MFEM's CG compares preconditioned norms with the one that it starts with.
/// - The preconditioner is Jacobi, or none (use_jacobi(false)); SetPreconditioner throws.
/// - Nothing is printed. Failure is GetConverged() == false, and result().diagnosis says why.
/// - Every other error throws a krylith::error.
class mfem_solver : public mfem::IterativeSolver {
public:
    /// double, or float where MFEM was built with it.
    using real = std::remove_cv_t<
        std::remove_pointer_t<decltype(std::declval<const mfem::Vector&>().HostRead())>>;

    explicit mfem_solver(communicator comm, mfem_method method = mfem_method::cg,
                         const operator_options& options = {})
        : comm_(std::move(comm)), method_(method), operator_options_(options) {}

    /// The options for which MFEM has no setter: restart, history, callback. MFEM's own settings
    /// overwrite tolerances, iterations and initial_guess.
    [[nodiscard]] solver_options& options() noexcept { return options_; }

    /// Switches Jacobi on (the default) or off, from the next SetOperator on.
    void use_jacobi(bool on) noexcept { jacobi_wanted_ = on; }

    /// Takes a finalized mfem::SparseMatrix, which must outlive the call only. If it has the
    /// pattern of the matrix before, only its values go to the devices, O(nnz); another pattern
    /// makes a new operator. A copy of the pattern stays on the host, 4 bytes an entry and 8 a row.
    /// Throws usage_error for any other operator, and for a matrix that is not square.
    void SetOperator(const mfem::Operator& op) override {
        const auto* matrix = dynamic_cast<const mfem::SparseMatrix*>(&op);
        if (matrix == nullptr)
            throw usage_error("mfem_solver::SetOperator: needs an mfem::SparseMatrix");
        if (!matrix->Finalized())
            throw usage_error("mfem_solver::SetOperator: the matrix is not finalized");
        oper = &op;
        if (op.Height() != op.Width())
            throw usage_error("mfem_solver::SetOperator needs a square matrix; A is " +
                              std::to_string(op.Height()) + " x " + std::to_string(op.Width()));
        height = op.Height();
        width = op.Width();
        const auto adapted = adapt_csr(matrix->Height(), matrix->Width(), matrix->HostReadI(),
                                       matrix->HostReadJ(), matrix->HostReadData());
        set(adapted.view());
    }

    /// Throws usage_error: preconditioners of MFEM can't run on the devices.
    void SetPreconditioner(mfem::Solver& /*preconditioner*/) override {
        throw usage_error("mfem_solver: preconditioners of MFEM can't run on the devices; "
                          "Jacobi is built in (use_jacobi)");
    }

    /// Solves A x = b, from x if iterative_mode is on (the default), else from 0. On host devices b
    /// and x are used in place, else they are copied to and from the devices.
    void Mult(const mfem::Vector& b, mfem::Vector& x) const override {
        if (!operator_) throw usage_error("mfem_solver::Mult before SetOperator");
        const auto n = static_cast<std::size_t>(operator_->size());
        const auto check = [&](const char* name, int size) {
            if (size != height)
                throw usage_error(std::string("mfem_solver::Mult: ") + name + " has " +
                                  std::to_string(size) + " entries, allowed is " +
                                  std::to_string(height));
        };
        check("b", b.Size());
        check("x", x.Size());
        const std::span<const real> from(b.HostRead(), n);
        const std::span<real> to(iterative_mode ? x.HostReadWrite() : x.HostWrite(), n);
        const layout_handle& layout = operator_->layout();
        if (can_borrow_host_array(*layout)) {
            const auto rhs = borrow_host_array(layout, from);
            auto solution = borrow_host_array(layout, to);
            solve(rhs, solution);
            return;
        }
        if (!rhs_) rhs_.emplace(layout);
        if (!solution_) solution_.emplace(layout);
        rhs_->upload(from);
        if (iterative_mode) solution_->upload(to);
        solve(*rhs_, *solution_);
        solution_->download(to);
    }

    /// The result of the last Mult.
    [[nodiscard]] const solve_result& result() const noexcept { return result_; }
    /// How often SetOperator found the same pattern as before.
    [[nodiscard]] int updates() const noexcept { return updates_; }
    /// The operator on the devices; null before SetOperator.
    [[nodiscard]] const matrix_operator<real>* on_devices() const noexcept {
        return operator_.get();
    }

private:
    void set(const csr_view<real>& matrix) {
        const bool same = operator_ && std::ranges::equal(matrix.row_offsets, offsets_) &&
                          std::ranges::equal(matrix.column_indices, columns_);
        if (same) {
            operator_->update(matrix.values);
            ++updates_;
        } else {
            rhs_.reset();
            solution_.reset();
            jacobi_.reset();
            operator_ = make_operator(comm_, matrix, operator_options_);
            offsets_.assign(matrix.row_offsets.begin(), matrix.row_offsets.end());
            columns_.assign(matrix.column_indices.begin(), matrix.column_indices.end());
        }
        if (!jacobi_wanted_)
            jacobi_.reset();
        else if (jacobi_)
            jacobi_->update(*operator_);
        else
            jacobi_.emplace(*operator_);
    }

    void solve(const vector<real>& b, vector<real>& x) const {
        solver_options now = options_;
        now.rtol = rel_tol;
        now.atol = abs_tol;
        now.max_iterations = max_iter;
        now.initial_guess = iterative_mode;
        result_ = jacobi_ ? run(b, x, now, *jacobi_) : run(b, x, now, identity{});
        converged = result_.converged();
        final_iter = static_cast<int>(result_.iterations);
        final_norm = static_cast<real>(result_.true_residual);
    }

    template <class M>
    [[nodiscard]] solve_result run(const vector<real>& b, vector<real>& x,
                                   const solver_options& now, const M& m) const {
        switch (method_) {
        case mfem_method::cg: return cg(*operator_, b, x, now, m);
        case mfem_method::bicgstab: return bicgstab(*operator_, b, x, now, m);
        default: return gmres(*operator_, b, x, now, m);
        }
    }

    communicator comm_;
    mfem_method method_;
    operator_options operator_options_;
    solver_options options_;
    bool jacobi_wanted_ = true;
    int updates_ = 0;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> columns_;
    std::unique_ptr<matrix_operator<real>> operator_;
    std::optional<jacobi<real>> jacobi_;
    mutable std::optional<vector<real>> rhs_;
    mutable std::optional<vector<real>> solution_;
    mutable solve_result result_;
};

} // namespace krylith
