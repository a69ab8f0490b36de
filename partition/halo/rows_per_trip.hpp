#pragma once

#include <cstdint>

namespace krylith {

/// The rows that a thread takes at a time where it finds ghosts: few enough to balance rows of
/// unequal length, and 1 KB of touches_ghost, so that threads rarely write the same cache line.
inline constexpr std::int64_t rows_per_trip = 1024;

} // namespace krylith
