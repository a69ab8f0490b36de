// The measurement of one or more CG solvers on one workload, and what makes it valid.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <krylith/bench/cg/cg_contestant.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>

namespace krylith::bench {

struct cg_plan {
    slope_effort effort;
    int solves = 3; ///< timed solves to rtol, after one that is not; 0: none
    double rtol = 1e-8;
    std::int64_t max_iterations = 20000;
};

struct cg_numbers {
    std::string solver;
    spread iteration; ///< seconds
    spread solve;     ///< seconds to rtol, from call to return; no samples: not asked for
    cg_outcome first; ///< of the first solve
    double relative_residual = 0; ///< of its x, computed on the CPU
    double setup_seconds = 0;
    std::vector<std::string> void_because; ///< checks that failed
};

/// Time an iteration, in turns; then, one solver after the other, time to solution. Each must
/// converge, to a true residual that agrees, and to the same bits each time.
[[nodiscard]] std::vector<cg_numbers>
measure_cg(const workload& w, std::span<cg_contestant* const> contestants, const cg_plan& plan);

/// Voids `numbers` unless it took as many iterations as `first`, with the same residual norms
/// (1e-10 relative) while they are above 1e-6 of the first.
void compare_device_counts(const cg_numbers& first, cg_numbers& numbers);

} // namespace krylith::bench
