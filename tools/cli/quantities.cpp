#include <krylith/tools/cli/quantities.hpp>

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace krylith::tool {

std::string in_bytes(double bytes) {
    static constexpr std::array<const char*, 5> units = {"bytes", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string in_seconds(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
    return fmt::format("{:.4g} s", seconds);
}

} // namespace krylith::tool
