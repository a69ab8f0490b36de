// The loop of CG for several right-hand sides, with its vectors and its recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/solvers/multi_cg/column_convergence.hpp>
#include <krylith/solvers/multi_cg/column_kernels.hpp>
#include <krylith/solvers/multi_cg/column_matrix.hpp>
#include <krylith/solvers/multi_cg/persistent_columns.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/vector/scalar.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// On one GPU one kernel runs all iterations of systems that its registers hold
/// (persistent_columns). Elsewhere an iteration is four kernels on each device: q = A p with p'q, r
/// -= alpha q with r'r (and r'z), the stop tests of all columns, and x += alpha p with p = z + beta
/// p. The devices repeat them without the host until no column goes on.
template <class T>
class multi_cg_loop {
public:
    /// `columns` is a number that there are kernels for.
    multi_cg_loop(const device_group& group, const csr_view<T>& a, int columns, bool jacobi,
                  const solver_options& options);

    [[nodiscard]] int columns() const { return k_; }
    [[nodiscard]] std::int64_t rows() const { return a_.rows(); }

    /// Solves for `count` columns, at most columns() of them, which lie one after the other. The
    /// time that options.max_seconds limits began at `began`. options.rtol is set.
    [[nodiscard]] std::vector<solve_result> solve(std::span<const T> b, std::span<T> x, int count,
                                                  const solver_options& options,
                                                  std::chrono::steady_clock::time_point began);

private:
    using kernel = void (*)(device&, const column_arguments<T>&);

    [[nodiscard]] column_operands<T> operands(int rank);
    [[nodiscard]] column_arguments<T> arguments(int rank);
    [[nodiscard]] int residual_sums() const { return jacobi_ ? 2 * k_ : k_; }
    /// Opens an operation; it waits for the ghosts of `reads`.
    void open(const vector<T>* reads);
    /// Enqueues a kernel that reduces so many values into the array from `first` on.
    void pass(kernel run, const vector<T>* reads, int first, int values);
    void iterate();
    /// Computes r = b - A x (or b), p = z and their sums, and brings these to the host.
    void compute_residuals(column_start from);
    /// Repeats iterations until no column goes on. Returns why the caller stopped them, if so.
    [[nodiscard]] std::optional<reason> repeat(const solver_options& options,
                                               std::chrono::steady_clock::time_point began);
    /// The same by four kernels an iteration, after `done` iterations.
    [[nodiscard]] std::optional<reason> repeat_launched(const solver_options& options,
                                                        std::chrono::steady_clock::time_point began,
                                                        std::int64_t done);
    /// The same by one kernel.
    [[nodiscard]] std::optional<reason>
    repeat_persistent(const solver_options& options, std::chrono::steady_clock::time_point began,
                      std::int64_t done);
    void download_numbers();

    int k_;
    column_places at_;
    bool jacobi_;
    column_matrix<T> a_;
    execution run_;
    vector<T> b_ = a_.make_range_vector();
    vector<T> x_ = a_.make_domain_vector();
    vector<T> r_ = a_.make_range_vector();
    vector<T> p_ = a_.make_domain_vector();
    vector<T> q_ = a_.make_range_vector();
    scalar running_{run_};
    std::optional<persistent_columns<T>> persistent_;
    std::string launched_because_; ///< why there is no persistent kernel
    column_convergence columns_;
};

extern template class multi_cg_loop<double>;
extern template class multi_cg_loop<float>;

} // namespace krylith
