// A joint solver of any method that is written as passes.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/joint/joint_loop.hpp>
#include <krylith/solvers/table/joint_solver.hpp>

namespace krylith {

/// Rounds up to a number of columns that there are kernels for. Throws usage_error below 1.
[[nodiscard]] int kernel_columns(int columns);

/// Throws usage_error for options that are not allowed, and for those that joint loops don't have.
void check_joint_options(const solver_options& options);

/// Returns how many columns b and x have. Throws usage_error unless they have the same whole number
/// of them.
[[nodiscard]] std::size_t count_columns(std::size_t b, std::size_t x, std::size_t rows);

template <class Method, class T>
class joint_columns final : public joint_solver<T> {
public:
    joint_columns(const communicator& comm, const csr_view<T>& a, int columns,
                  const column_preconditioner<T>& m, const solver_options& options)
        : options_((check_joint_options(options), options)),
          loop_(comm, a, kernel_columns(columns), m, resolved<T>(options)) {}

    std::vector<solve_result> solve(std::span<const T> b, std::span<T> x) override {
        const auto began = std::chrono::steady_clock::now();
        check_joint_options(options_);
        const solver_options options = resolved<T>(options_);
        const auto n = static_cast<std::size_t>(loop_.rows());
        const std::size_t count = count_columns(b.size(), x.size(), n);
        const auto at_once = static_cast<std::size_t>(columns());
        std::vector<solve_result> results;
        for (std::size_t first = 0; first < count; first += at_once) {
            const std::size_t some = std::min(count - first, at_once);
            for (solve_result& result :
                 loop_.solve(b.subspan(first * n, some * n), x.subspan(first * n, some * n),
                             static_cast<int>(some), options, began))
                results.push_back(std::move(result));
        }
        if (options.on_failure == failure_policy::throw_error)
            for (const solve_result& result : results)
                if (!result.converged()) throw not_converged(result);
        return results;
    }

    [[nodiscard]] solver_options& options() override { return options_; }
    [[nodiscard]] int columns() const override { return loop_.columns(); }
    [[nodiscard]] const any_preconditioner<T>& preconditioner() const override {
        return loop_.preconditioner();
    }

private:
    solver_options options_;
    joint_loop<Method, T> loop_;
};

/// Makes the joint solver of a method.
template <template <bool Applied> class Method, class T>
[[nodiscard]] std::unique_ptr<joint_solver<T>>
make_joint(const communicator& comm, const csr_view<T>& a, int columns,
           const column_preconditioner<T>& m, const solver_options& options) {
    if (m.kind == joint_preconditioner::applied)
        return std::make_unique<joint_columns<Method<true>, T>>(comm, a, columns, m, options);
    return std::make_unique<joint_columns<Method<false>, T>>(comm, a, columns, m, options);
}

} // namespace krylith
