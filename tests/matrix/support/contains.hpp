// Whether a text has a part.
#pragma once

#include <string>

namespace krylith::test {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace krylith::test
