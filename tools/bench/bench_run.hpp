// Timings of the library's own solvers and products over device counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace krylith::tool {

struct bench_request {
    std::string what; ///< "spmv" or a solver
    std::string matrix;
    bool spd = false; ///< made symmetric positive definite
    std::string preconditioner = "none";
    std::vector<int> counts; ///< of devices
    /// Multiples of what is recorded at once: eager copies, and products of others, don't know of
    /// the stop before.
    std::int64_t warm_up = 16;
    std::int64_t iterations = 192;
    int repetitions = 5;
    operator_request multiply;
    device_options devices;
};

struct bench_row {
    int devices = 0;
    std::string operator_name;
    std::string format_name;
    double median_seconds = 0; ///< an iteration, or a product
    double p10_seconds = 0;
    double p90_seconds = 0;
    double bytes = 0; ///< that it can't avoid; 0: no model
    // Of a whole solve to the default rtol of the precision from x0 = 0; solvers only.
    double rtol = 0;
    std::int64_t solve_iterations = 0;
    double solve_seconds = 0;
    double relative_true_residual = 0;
    bool converged = false;
    bool repeats = false; ///< two solves gave the same bits
};

/// A row for each count; b is random:1. An iteration is timed as the difference of two runs of
/// warm_up and warm_up + iterations, so that start and verification drop out.
template <class T>
[[nodiscard]] std::vector<bench_row> run_bench(const bench_request& request);

} // namespace krylith::tool
