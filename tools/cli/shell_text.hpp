// Texts as a shell reads them.
#pragma once

#include <string>

namespace krylith::tool {

/// One word of a command line: in quotes where a shell would read it otherwise.
[[nodiscard]] std::string quoted(const std::string& text);

} // namespace krylith::tool
