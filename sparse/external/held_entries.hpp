// The entries of a domain vector that a device has.
#pragma once

#include <cstdint>

namespace krylith {

/// The entries of x on a device, ghosts included.
struct held_entries {
    std::int64_t count = 0;
    std::int64_t first = 0; ///< which of them is the first owned one; 0 where the device has all
};

} // namespace krylith
