// The time of a system among several with one matrix: solved at once, and one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/workload.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/solvers/column_solver.hpp>

namespace krylith::bench {

/// One of the two ways.
struct column_times {
    std::vector<double> solve; ///< [repetitions] seconds a system, from b on the devices to x there
    std::vector<double> call;  ///< the same with the transfers of b and x
    std::int64_t iterations = 0;  ///< of the column that takes most
    double iteration = 0;         ///< seconds an iteration of all columns, the median of solves
    double relative_residual = 0; ///< the largest ||b - A x|| / ||b|| of all columns, on the CPU
    std::string form;             ///< of cg: "persistent" or "launched"
};

struct right_hand_sides_numbers {
    column_times at_once;
    column_times one_by_one;
    int columns_a_loop = 0;
    std::vector<std::string> void_because;
};

struct right_hand_sides_task {
    int columns = 8;
    column_method method;
    double rtol = 1e-8;
    int repetitions = 5;
};

/// Measures both ways by turns, `repetitions` times after one that is thrown away, so that what
/// disturbs the machine for a while disturbs both. The right-hand sides are uniform in [-1, 1), the
/// same on every machine; w.b is overwritten.
[[nodiscard]] right_hand_sides_numbers
measure_right_hand_sides(const device_group& group, workload& w, const right_hand_sides_task& task);

} // namespace krylith::bench
