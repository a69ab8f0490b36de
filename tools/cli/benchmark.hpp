// The benchmarks that `krylith bench` knows.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <krylith/tools/cli/exit_status.hpp>

namespace CLI {
class App;
} // namespace CLI

namespace krylith::tool {

struct benchmark {
    std::string_view name;
    std::string_view help; ///< one line
    /// Adds its options, and returns what runs it once they are parsed.
    std::function<exit_status()> (*add)(CLI::App& options);
};

/// The solvers of the registry first. bench/benchmarks.cpp defines it; where krylith is built
/// without benchmarks, without_benchmarks.cpp does, and there are none.
[[nodiscard]] std::vector<benchmark> benchmarks();

} // namespace krylith::tool
