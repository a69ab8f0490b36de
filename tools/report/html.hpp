// Pieces of a page in HTML that is XML, too.
#pragma once

#include <string>
#include <string_view>

namespace krylith::tool::html {

/// Text as a page shows it: markup and quotes escaped, control characters and bytes that aren't
/// UTF-8 spelt out.
[[nodiscard]] std::string text(std::string_view content);

/// <NAME ATTRIBUTES>CONTENT</NAME>; content and attributes are put in as they are.
[[nodiscard]] std::string element(std::string_view name, std::string_view attributes,
                                  std::string_view content);

/// A row of a table: a name and what belongs to it, both escaped.
[[nodiscard]] std::string named_row(std::string_view name, std::string_view value);

} // namespace krylith::tool::html
