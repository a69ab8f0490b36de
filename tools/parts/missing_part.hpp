// Commands of parts that a build may lack.
#pragma once

#include <string>

#include <krylith/tools/cli/command.hpp>

namespace krylith::tool {

/// The command `name`, which takes any arguments and throws usage_error that names the option of
/// the build that left it out.
[[nodiscard]] command add_missing_part(CLI::App& parent, const std::string& name,
                                       const std::string& option);

} // namespace krylith::tool
