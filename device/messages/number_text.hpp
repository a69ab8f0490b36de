// Numbers in messages, in every locale the same.
#pragma once

#include <charconv>
#include <string>

namespace krylith {

/// The shortest text that reads back as the same value.
[[nodiscard]] inline std::string number_text(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return std::string(text, end);
}

/// The value with at most so many significant digits, 1 to 17, as %g has them.
[[nodiscard]] inline std::string number_text(double value, int digits) {
    char text[32];
    const auto end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
    return std::string(text, end);
}

} // namespace krylith
