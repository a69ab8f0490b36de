// The measurement of one or more solvers on one workload, and what makes it valid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/solver/solver_contestant.hpp>

namespace krylith::bench {

struct solver_plan {
    /// Whole trips of 16 iterations, the default of solvers: kernels after the last iteration of a
    /// run do nothing, but their starts take time.
    slope_effort effort{.warm_up = 48, .iterations = 192};
    int solves = 3; ///< timed solves to rtol, after one that is not; 0: none
    double rtol = 1e-8;
    std::int64_t max_iterations = 20000;
    double epsilon = 0; ///< rounding of the vectors' precision; 0: too small to be seen
};

struct solver_numbers {
    std::string solver;
    spread iteration;     ///< seconds
    spread solve;         ///< seconds to rtol, from call to return; no samples: not asked for
    solver_outcome first; ///< of the first solve
    double relative_residual = 0; ///< of its x, computed on the CPU
    bool repeats = true;          ///< each solve gave the same bits
    double setup_seconds = 0;
    std::vector<std::string> void_because; ///< checks that failed
};

/// Measures the time of an iteration, with alternating solvers; then, one solver after the other,
/// time to solution. Each must converge, to a true residual that agrees, and to the same bits each
/// time.
[[nodiscard]] std::vector<solver_numbers>
measure_solvers(const workload& w, std::span<solver_contestant* const> contestants,
                const solver_plan& plan);

/// Voids `numbers` unless it took as many iterations as `first`, with the same residual norms
/// (1e-10 relative) while they are above 1e-6 of the first.
void compare_device_counts(const solver_numbers& first, solver_numbers& numbers);

} // namespace krylith::bench
