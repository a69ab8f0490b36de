// A solver that can be timed: krylith's, and those that it is compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/measurement_failed.hpp>

namespace krylith::bench {

struct solver_outcome {
    bool converged = false; ///< by the solver's own account
    std::string reason;
    double seconds = 0; ///< from call to return, x on the device
    std::int64_t iterations = 0;
    std::vector<double> x;
    std::vector<double> history; ///< ||r||_2 by iteration; empty where the solver keeps none
};

/// A solver set up for one matrix and right-hand side.
class solver_contestant {
public:
    solver_contestant() = default;
    solver_contestant(const solver_contestant&) = delete;
    solver_contestant& operator=(const solver_contestant&) = delete;
    virtual ~solver_contestant() = default;

    [[nodiscard]] virtual std::string name() const = 0;
    /// Returns the seconds of exactly that many iterations from x = 0, residual norms computed.
    /// Throws measurement_failed where it ended earlier.
    [[nodiscard]] virtual double iterate(std::int64_t iterations) = 0;
    /// Solves from x = 0 to ||r|| <= rtol ||b||.
    [[nodiscard]] virtual solver_outcome solve(double rtol, std::int64_t max_iterations) = 0;
    /// The seconds to set up matrix and right-hand side, on the host and to the devices.
    [[nodiscard]] virtual double setup_seconds() const = 0;
};

} // namespace krylith::bench
