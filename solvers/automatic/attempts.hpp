// Tries methods until one converges, and keeps the best x.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/automatic/method_plan.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith {

/// Whether the caller ended the solve.
[[nodiscard]] inline bool was_stopped(const solve_result& r) {
    return r.reason == reason::stopped_by_user || r.reason == reason::interrupted ||
           r.reason == reason::time_limit;
}

/// The attempts on one system. What it refers to must outlive it.
template <class T>
class attempts {
public:
    /// x holds the initial guess, if the options say so. b may share memory with x. `matrix`, if it
    /// is not null, is what the operator was made of, with its nodes. `lent`, if it is not null,
    /// has the same on the devices, until a preconditioner has been made of it or none needs it.
    attempts(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
             const solver_options& options, const matrix_ref<T>* matrix, const matrix_nodes& nodes,
             std::optional<distributed_csr<T>>* lent = nullptr);

    /// Tries the methods in order, but first the one that solved the last system of the operator.
    /// `given` is used where it is not null; else M is made by the row of each method.
    [[nodiscard]] solve_result run(std::span<const planned_method> plan,
                                   const any_preconditioner<T>* given);

private:
    [[nodiscard]] solver_options options_for(const planned_method& method, bool last) const;
    [[nodiscard]] bool is_left_half_way(const planned_method& method, bool last) const;
    [[nodiscard]] bool wants_more_than_least_residual(const planned_method& method) const;
    /// Makes the preconditioner of a method, and lets go of the matrix that is lent.
    [[nodiscard]] any_preconditioner<T> make(const planned_method& method);
    /// Returns one that the operator keeps until the next call.
    [[nodiscard]] const any_preconditioner<T>& preconditioner(const planned_method& method);
    /// The same for a method that has one. Null, with the reason among the attempts, where it can't
    /// be made and another method may do without.
    [[nodiscard]] const any_preconditioner<T>* prepared(const planned_method& method, bool last);
    /// Leaves with the operator what converged, and after how many iterations.
    void remember(const planned_method& method, std::int64_t iterations) const;
    /// Returns the methods, and before them the one that solved the last system.
    [[nodiscard]] std::vector<planned_method>
    in_order(std::span<const planned_method> methods) const;
    /// Returns the operator that the method takes, which for least squares has A' too.
    [[nodiscard]] const matrix_operator<T>& operator_for(const planned_method& method);
    /// `m` is null for none. The attempt began at `start`.
    [[nodiscard]] solve_result attempt(const planned_method& method, bool last,
                                       const any_preconditioner<T>* m,
                                       std::chrono::steady_clock::time_point start);
    /// Ends in place of an attempt for which no time is left, with its x or the best so far.
    [[nodiscard]] bool was_made_so(const planned_method& method) const;
    [[nodiscard]] solve_result out_of_time(const planned_method& method, double making);
    [[nodiscard]] double seconds_left() const;
    /// For any driver. Collective.
    [[nodiscard]] bool no_time_is_left() const;
    /// Takes the mean from b where no x solves the system with it: A, which is symmetric, maps
    /// constants to 0. Asked once, after a failure, at the cost of a product.
    [[nodiscard]] bool takes_mean_from_rhs();
    /// Solves that system, whose x has the least residual of the caller's, by the methods for
    /// definite matrices, and says so. Nothing, and the caller's system again, where they fail.
    [[nodiscard]] std::optional<solve_result> run_without_mean(std::span<const planned_method> plan,
                                                               const any_preconditioner<T>* given,
                                                               double rhs_norm);
    /// Returns the result with what all attempts took.
    [[nodiscard]] solve_result with_attempts(solve_result result);
    /// Returns the best so far as the result, after a failure.
    [[nodiscard]] solve_result nearest(const std::string& stopped_by);
    /// Sets x to where the next attempt begins; false: it begins from 0.
    [[nodiscard]] bool begin();
    /// Keeps x where it is the best so far.
    void keep(const solve_result& result);
    /// Returns ||b - A x||.
    [[nodiscard]] double residual_norm(const vector<T>& x) const;
    void copy(const vector<T>& from, vector<T>& to) const;

    const matrix_operator<T>& a_;
    std::unique_ptr<const matrix_operator<T>> with_transposed_; ///< where a_ has no A'
    const matrix_ref<T>* matrix_;
    std::optional<distributed_csr<T>>* lent_;
    matrix_nodes nodes_;
    const vector<T>* b_;
    vector<T>& x_;
    solver_options options_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::optional<vector<T>> own_b_; ///< where b shares memory with x
    std::optional<vector<T>> b_without_mean_;
    double mean_of_b_ = 0; ///< the norm of what was taken over ||b||
    bool asked_for_mean_ = false;
    std::optional<vector<T>> guess_; ///< the caller's x
    /// Of the guess, and ||b||, the residual of x = 0; known after a failure.
    double guess_residual_ = std::numeric_limits<double>::infinity();
    double rhs_norm_ = 0;
    std::optional<vector<T>> best_; ///< of failed attempts
    solve_result best_result_;
    std::vector<solve_attempt> tried_;
    std::int64_t iterations_ = 0; ///< of all attempts
    double setup_seconds_ = 0;    ///< of all attempts, as solve_result counts them
    double solve_seconds_ = 0;
};

} // namespace krylith
