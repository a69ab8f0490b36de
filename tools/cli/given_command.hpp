// The command line that this process was given, for reports: how to repeat what they tell.
#pragma once

#include <span>
#include <string>

namespace krylith::tool {

/// Once, at the beginning, with the arguments behind the program's name.
void keep_command(std::span<char* const> arguments);

/// "krylith solve a.mtx --rtol 1e-6", each argument as a shell reads it.
[[nodiscard]] const std::string& given_command();

} // namespace krylith::tool
