// A subcommand of krylith.
#pragma once

#include <functional>
#include <span>

#include <krylith/tools/cli/benchmark.hpp>
#include <krylith/tools/cli/exit_status.hpp>

namespace CLI {
class App;
} // namespace CLI

namespace krylith::tool {

/// `options` belongs to the parent that it was added to; `run` may be called once they are parsed.
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
[[nodiscard]] command add_graph(CLI::App& parent);
[[nodiscard]] command add_info(CLI::App& parent);
[[nodiscard]] command add_recommend(CLI::App& parent);

} // namespace krylith::tool
