// From arguments to the subcommand that they name.
#pragma once

#include <span>

#include <krylith/tools/cli/benchmark.hpp>
#include <krylith/tools/cli/exit_status.hpp>

namespace krylith::tool {

/// Throws what the library throws; usage_error for arguments that can't be understood, naming the
/// nearest valid one.
[[nodiscard]] exit_status run_command_line(int argc, char** argv, std::span<const benchmark> known);

} // namespace krylith::tool
