// A conjugate gradient solver that can be timed: krylith's, and those that it is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/measurement_failed.hpp>

namespace krylith::bench {

struct cg_outcome {
    bool converged = false; ///< by the solver's own account
    std::string reason;
    double seconds = 0; ///< from call to return, x on the device
    std::int64_t iterations = 0;
    std::vector<double> x;
    std::vector<double> history; ///< ||r||_2 by iteration; empty where the solver keeps none
};

/// Set up for one matrix and right-hand side.
class cg_contestant {
public:
    cg_contestant() = default;
    cg_contestant(const cg_contestant&) = delete;
    cg_contestant& operator=(const cg_contestant&) = delete;
    virtual ~cg_contestant() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Seconds of exactly that many iterations from x = 0, residual norms computed. Throws
    /// measurement_failed where it ended earlier.
    [[nodiscard]] virtual double iterate(std::int64_t iterations) = 0;
    /// From x = 0 to ||r|| <= rtol ||b||.
    [[nodiscard]] virtual cg_outcome solve(double rtol, std::int64_t max_iterations) = 0;
    /// Of matrix and right-hand side, on the host and to the devices.
    [[nodiscard]] virtual double setup_seconds() const = 0;
};

} // namespace krylith::bench
