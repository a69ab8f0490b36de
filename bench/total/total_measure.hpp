// Where the time goes from CSR arrays in host memory to the solution in host memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/device/device_group.hpp>

namespace krylith::bench {

/// A step of the way, by itself.
struct total_phase {
    std::string name;
    double bytes = 0; ///< that cross between host memory and devices; 0 where that is not the point
    std::vector<double> seconds = {}; ///< [repetitions]
};

struct total_numbers {
    std::vector<total_phase> phases;
    std::int64_t iterations = 0;
    double relative_residual = 0; ///< ||b - A x|| / ||b|| of the downloaded x, on the CPU
    std::string chosen;           ///< by solve(): "cg with amg, 10 iterations"; empty for CuPy
    std::vector<std::string> void_because;

    /// Throws usage_error where there is no such phase.
    [[nodiscard]] const total_phase& phase(const std::string& name) const;
};

/// Measures `repetitions` times, after one time that is thrown away: the group's staging memory and
/// slabs are there then, and the host's arrays have been touched. w.b is ones.
[[nodiscard]] total_numbers measure_total(const device_group& group, const workload& w, double rtol,
                                          int repetitions);

} // namespace krylith::bench
