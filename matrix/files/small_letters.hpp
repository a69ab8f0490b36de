#pragma once

#include <string>
#include <string_view>

namespace krylith::files {

/// A name or a word of a header, with A to Z as a to z, whatever the locale.
[[nodiscard]] inline std::string small_letters(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return result;
}

} // namespace krylith::files
