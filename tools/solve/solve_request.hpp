// What `krylith solve` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <krylith/solvers/options.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/vector_source.hpp>

namespace krylith::tool {

struct solve_request {
    std::string matrix;
    bool spd = false; ///< made symmetric positive definite
    std::string rhs = "ones";
    std::string x0; ///< file; empty: zero
    std::string solver = "cg";
    std::string preconditioner = "none";
    std::string side = "right";
    std::string execution = "auto";
    std::optional<double> rtol; ///< without: as suits the precision
    double atol = solver_options{}.atol;
    std::int64_t max_iterations = solver_options{}.max_iterations;
    int restart = solver_options{}.restart;
    operator_request multiply;
    device_options devices;
    bool history = false;

    std::string solution_file;

    /// Throws usage_error for names and values that are not allowed.
    [[nodiscard]] solver_options options() const;
};

} // namespace krylith::tool
