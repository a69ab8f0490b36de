// The request of `krylith bench SOLVER`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/bench/solver/krylith_solver.hpp>
#include <krylith/bench/solver/solver_measure.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct solver_request {
    std::string solver = "cg";
    std::vector<std::string> matrices;
    bool random = false; ///< each gallery matrix also with random values
    bool spd = false;    ///< made symmetric positive definite
    std::string preconditioner = "none";
    tool::operator_request multiply;
    tool::device_options devices;
    std::vector<int> counts;
    std::string execution = "auto";
    int unroll = solver_options{}.unroll; ///< as users run it
    std::string against; ///< all, krylith or baseline; empty: all where there is a baseline
    bool passes = false;
    double limit = 0; ///< TB/s a device; 0: by the data sheet, or measured
    bool without_limits = false;
    std::optional<double> rtol; ///< without it: as suits the precision
    solver_plan plan;
    std::string report_file;
    std::string csv_file;

    /// The names to load, defaults and random variants included.
    [[nodiscard]] std::vector<std::string> matrix_names(backend devices) const;
    /// Returns whether there is a baseline: cuSPARSE with cuBLAS, and Eigen, do CG in fp64 without
    /// a preconditioner.
    [[nodiscard]] bool has_baseline() const;
    /// Returns `against` or its default. Throws usage_error for another name, and where there is no
    /// baseline but one is asked for.
    [[nodiscard]] std::string contestants() const;
    [[nodiscard]] krylith_settings settings() const;
    /// Throws usage_error naming the first thing that is not allowed.
    void check() const;
};

void add_options(CLI::App& app, solver_request& request);

} // namespace krylith::bench
