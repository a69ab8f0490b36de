// Numbers with units, for people.
#pragma once

#include <string>

namespace krylith::tool {

/// "12.3 MB": a few digits and a unit of powers of 1000.
[[nodiscard]] std::string in_bytes(double bytes);

/// "35.1 us", "1.23 s".
[[nodiscard]] std::string in_seconds(double seconds);

} // namespace krylith::tool
