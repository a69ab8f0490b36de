// The seconds of calls that are timed one by one, and what of them is not iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::bench {

struct call_numbers {
    std::int64_t iterations = 0; ///< of a call
    spread iteration;            ///< seconds an iteration, by calls of more and of fewer
    spread fresh;                ///< a call without anything kept
    spread kept;                 ///< a call with what the call before left
    spread update;               ///< new values of operator and preconditioner
    double steps = 0;            ///< seconds a step of many: update and solve
    std::vector<std::string> void_because;

    /// The seconds of a call that are not its iterations.
    [[nodiscard]] double beside(const spread& call) const {
        return call.median - static_cast<double>(iterations) * iteration.median;
    }
};

/// Measures calls of the solver for b = ones and rtol 1e-8, and `steps` time steps, each with other
/// values of the matrix, whose solutions must have the bits of calls without anything kept.
[[nodiscard]] call_numbers measure_calls(const device_group& group,
                                         const csr_matrix<double>& matrix,
                                         const solver_method& solver,
                                         const std::string& preconditioner, int steps);

} // namespace krylith::bench
