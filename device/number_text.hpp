// Numbers in messages: the shortest text that reads back as the same value.
#pragma once

#include <charconv>
#include <string>

namespace krylith {

[[nodiscard]] inline std::string number_text(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return std::string(text, end);
}

} // namespace krylith
