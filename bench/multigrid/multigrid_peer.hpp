// The same matrix and the same question by PyAMG, in a process of its own.
#pragma once

#include <string>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/multigrid/multigrid_measure.hpp>

namespace krylith::bench {

/// Returns why this Python can't run PyAMG; empty where it can.
[[nodiscard]] std::string missing_pyamg(const std::string& python);

/// Measures smoothed aggregation and CG with the same stopping test. The preconditioner's name has
/// PyAMG's version. The arrays go to files in a folder made below `folder`, which is removed.
/// Throws measurement_failed where PyAMG fails.
[[nodiscard]] multigrid_numbers measure_pyamg(const std::string& python, const std::string& folder,
                                              const workload& w, const multigrid_task& task);

} // namespace krylith::bench
