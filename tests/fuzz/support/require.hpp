// The message of an oracle before it aborts.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace krylith::fuzz {

inline void require(bool holds, const char* what, const std::string& detail = {}) {
    if (!holds) {
        std::fprintf(stderr, "oracle violated: %s %s\n", what, detail.c_str());
        std::abort();
    }
}

} // namespace krylith::fuzz
