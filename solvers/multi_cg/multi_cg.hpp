// Conjugate gradients for several right-hand sides with one matrix, all in one loop.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/table/joint_solver.hpp>

namespace krylith {

/// Solves A X = B by the recurrence of cg() in every column: the iterates are those of solving
/// column after column, but each iteration reads the matrix once for up to 16 columns, and has
/// three reductions for all of them. Each column has its own stop test; one that has stopped is
/// left as it is while the others go on, and still costs its share of an iteration. Keeps the
/// matrix in CSR on the devices, and the workspace and the recording for the next solve.
///
/// Devices exchange ghosts as operator halo does, in one put for all columns. Bytes on a device
/// with m rows: 12 nnz + 8 m, and 40 k m for k columns (fp64), where k is rounded up to 1, 2, 4, 8
/// or 16. Bytes an iteration: 12 nnz + (8 + 88 k) m, with jacobi 16 m more. One thread at a time.
template <class T>
class multi_cg final : public joint_solver<T> {
public:
    /// Throws input_error for an invalid matrix and for a diagonal that jacobi can't take,
    /// usage_error for one that is not square, and for options that are not allowed. 1 <= columns:
    /// how many are solved at once, at most 16 of them.
    multi_cg(const device_group& group, const csr_view<T>& a, int columns,
             joint_preconditioner m = joint_preconditioner::none,
             const solver_options& options = {});
    multi_cg(multi_cg&&) noexcept;
    multi_cg& operator=(multi_cg&&) noexcept;
    ~multi_cg() override;

    /// Solves for all columns of `b`, which lie one after the other, each with as many entries as A
    /// has rows; x lies likewise, and is what the solve starts from if options.initial_guess says
    /// so. Where there are more than columns() the loop runs again for the next ones. Returns one
    /// result a column, in order: their seconds are those of the loop that they shared. A column
    /// whose squares leave the range of double, which cg() would scale, ends with out_of_range.
    /// options.max_seconds and options.stop end all columns that still iterate.
    ///
    /// Throws usage_error unless b and x have the same number of whole columns, and for the options
    /// that several columns don't have, history and callback: cg() solves column after column with
    /// them. stagnation_window has no effect: the limit of iterations ends a column without
    /// progress. Throws not_converged for the first column that failed if options.on_failure says
    /// so; x then holds all columns.
    [[nodiscard]] std::vector<solve_result> solve(std::span<const T> b, std::span<T> x) override;
    [[nodiscard]] solver_options& options() override;

    /// How many columns one loop solves: 1, 2, 4, 8 or 16.
    [[nodiscard]] int columns() const override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

extern template class multi_cg<double>;
extern template class multi_cg<float>;

} // namespace krylith
