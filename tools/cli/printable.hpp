// Text that a terminal shows and does not obey, and that a shell reads as one word.
#pragma once

#include <string>
#include <string_view>

namespace krylith::tool {

/// Control characters (also DEL, and C1 in UTF-8) and bytes that aren't UTF-8 as \n, \r, \t or
/// \xNN, so that a file's name can neither steer the terminal nor look like a line of krylith's.
[[nodiscard]] std::string one_line(std::string_view text);

/// The same, but line feeds and tabs stay: for text of which the lines are made so.
[[nodiscard]] std::string printable(std::string_view text);

/// A line of a summary: a name, which fills `width` columns, and a text in one line.
[[nodiscard]] std::string named_line(std::string_view name, std::string_view text, int width = 11);

/// One word of a command line: in quotes where a shell would read it otherwise.
[[nodiscard]] std::string quoted(const std::string& text);

} // namespace krylith::tool
