// A solver of krylith's on a device group.
#pragma once

#include <memory>
#include <string>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/solver/solver_contestant.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/cli/near_null.hpp>

namespace krylith::bench {

struct krylith_settings {
    std::string solver = "cg";           ///< a name of all_solvers
    std::string preconditioner = "none"; ///< as make_preconditioner() reads it
    operator_options multiply{};
    /// The mode, recording and time-out; run() sets the other options.
    solver_options options{};
};

template <class T>
class krylith_solver final : public solver_contestant {
public:
    /// The workload must outlive the solver.
    krylith_solver(const device_group& group, const workload& w, const krylith_settings& settings);

    [[nodiscard]] std::string name() const override { return "krylith"; }
    [[nodiscard]] double iterate(std::int64_t iterations) override;
    [[nodiscard]] solver_outcome solve(double rtol, std::int64_t max_iterations) override;
    [[nodiscard]] double setup_seconds() const override { return setup_seconds_; }

    /// Returns how many of so many iterations it does before it can't go on, from x = 0 with rtol
    /// 0.
    [[nodiscard]] std::int64_t most_iterations(std::int64_t iterations);

    [[nodiscard]] const matrix_operator<T>& a() const { return *a_; }
    /// Returns whether the devices repeated the iteration by themselves in the last run.
    [[nodiscard]] bool recorded() const { return recorded_; }

private:
    [[nodiscard]] solve_result run(double rtol, std::int64_t max_iterations, bool history = false);

    krylith_settings settings_;
    const solver_method& solver_;
    tool::near_null modes_;
    double setup_seconds_ = 0;
    std::unique_ptr<matrix_operator<T>> a_;
    any_preconditioner<T> m_;
    vector<T> b_;
    vector<T> x_;
    bool recorded_ = false;
};

} // namespace krylith::bench
