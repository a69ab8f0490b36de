// The subcommands of krylith, the benchmarks, and the way from arguments to what they name.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace krylith::tool {

enum class exit_status {
    success = 0,       ///< converged, or done
    not_converged = 1, ///< or, for spmv, different from the reference
    usage = 2,
    bad_input = 3,
    device_failure = 4,
    communication_failure = 5
};

/// The status that goes with an exception: the library's types decide, memory that ran out counts
/// as a device failure.
[[nodiscard]] exit_status status_of(const std::exception& failure) noexcept;

/// A benchmark of `krylith bench`.
struct benchmark {
    std::string_view name;
    std::string_view help; ///< one line
    /// Adds its options, and returns what runs it once they are parsed.
    std::function<exit_status()> (*add)(CLI::App& options, std::string_view name);
};

/// The solvers of the registry first. Two programs have this command line: krylith-bench has the
/// benchmarks, with the libraries that they compare with (bench/benchmarks.cpp); krylith has none
/// (tools/bench/without_benchmarks.cpp), so that it starts without these libraries.
[[nodiscard]] std::vector<benchmark> benchmarks();

/// Runs krylith-bench in place of this program, with the same arguments. Returns where it doesn't
/// lie beside this one, and at once in krylith-bench itself.
void hand_over_to_benchmarks(char** arguments);

/// Throws what the library throws; usage_error for arguments that can't be understood, naming the
/// nearest valid one.
[[nodiscard]] exit_status run_command_line(int argc, char** argv, std::span<const benchmark> known);

/// A subcommand. `options` belongs to the parent that it was added to; `run` may be called once
/// they are parsed.
struct command {
    CLI::App* options;
    std::function<exit_status()> run;
};

[[nodiscard]] command add_solve(CLI::App& parent);
[[nodiscard]] command add_spmv(CLI::App& parent);
[[nodiscard]] command add_devices(CLI::App& parent);
[[nodiscard]] command add_bench(CLI::App& parent, std::span<const benchmark> known);
[[nodiscard]] command add_gallery(CLI::App& parent);
[[nodiscard]] command add_convert(CLI::App& parent);
[[nodiscard]] command add_multiply(CLI::App& parent);
[[nodiscard]] command add_add(CLI::App& parent);
[[nodiscard]] command add_graph(CLI::App& parent);
[[nodiscard]] command add_info(CLI::App& parent);
[[nodiscard]] command add_recommend(CLI::App& parent);

} // namespace krylith::tool
