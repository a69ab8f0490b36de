// Files that the command writes.
#pragma once

#include <string>
#include <string_view>

namespace krylith::tool {

/// Throws input_error if a file of that name can't be written: found out before the work, not after
/// it. Nothing is created. "" (no output) and "-" (standard output) pass.
void check_writable(const std::string& option, const std::string& path);

/// "-" is standard output. Throws input_error where writing fails.
void write_text(const std::string& path, std::string_view text);

} // namespace krylith::tool
