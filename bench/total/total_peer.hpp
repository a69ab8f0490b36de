// The same arrays and the same question by CuPy, in a process of its own.
#pragma once

#include <string>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/total/total_measure.hpp>

namespace krylith::bench {

/// Returns why this Python can't run CuPy on a GPU; empty where it can.
[[nodiscard]] std::string missing_cupy(const std::string& python);

struct cupy_numbers {
    total_numbers numbers;
    std::string version;
};

/// Measures CuPy's upload and CG with the same stopping test. The arrays go to files in a folder
/// made below `folder`, which is removed. Throws measurement_failed where CuPy fails.
[[nodiscard]] cupy_numbers measure_cupy(const std::string& python, const std::string& folder,
                                        const workload& w, double rtol, int repetitions);

} // namespace krylith::bench
