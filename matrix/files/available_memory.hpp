// The memory that the host can still give: a matrix must fit in it before its size is believed.
#pragma once

#include <cstdint>
#include <string>

namespace krylith {

/// The bytes that this process can be expected to get (device/memory/memory_room.hpp has what
/// limits them).
[[nodiscard]] std::int64_t available_memory();

/// The same for people, with the limit that applies: "59.1 MB of RLIMIT_AS (ulimit -v), 600000000
/// bytes".
[[nodiscard]] std::string available_in_words();

/// A number of bytes for people: "512 bytes", "17.2 GB" (powers of 1000).
[[nodiscard]] std::string bytes_in_words(double bytes);

} // namespace krylith
