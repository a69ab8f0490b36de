// The message of an oracle before it aborts.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace krylith::fuzz {

inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "oracle violated: %s\n", what);
        std::abort();
    }
}

} // namespace krylith::fuzz
