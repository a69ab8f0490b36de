// Where the time goes from a matrix on the devices to a solution by multigrid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/precond/amg.hpp>

namespace krylith::bench {

struct multigrid_phase {
    std::string name;
    std::vector<double> seconds; ///< [repetitions]
};

struct multigrid_numbers {
    std::vector<multigrid_phase> phases;
    std::int64_t iterations = 0;
    std::int64_t iterations_alone = 0; ///< of CG without M; 0 where it did not run
    double relative_residual = 0;      ///< ||b - A x|| / ||b|| of the downloaded x, on the CPU
    std::string preconditioner;        ///< its name
    std::int64_t bytes = 0;            ///< that it keeps on a device
    std::int64_t updated_bytes = 0;    ///< the same after an update
    std::int64_t peak_bytes = 0;       ///< that its set-up takes on a device, at the most
    double operator_complexity = 0;
    double grid_complexity = 0;
    std::vector<multigrid_level_facts> levels;
    std::vector<std::string> void_because;
};

struct multigrid_task {
    amg_options options;
    double rtol = 1e-8;
    int repetitions = 5;
    bool with_cg = false;
};

/// Measures `repetitions` times, after one time that is thrown away. The clock runs from csr_parts
/// on the devices.
[[nodiscard]] multigrid_numbers measure_multigrid(const device_group& group, const workload& w,
                                                  const multigrid_task& task);

} // namespace krylith::bench
