#include <krylith/tools/name_check.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/nearest_name.hpp>

namespace krylith::tool {

void check_name(std::string_view what, std::string_view given,
                std::span<const std::string_view> valid) {
    if (std::ranges::find(valid, given) != valid.end()) return;
    std::string message = "unknown " + std::string(what) + " '" + std::string(given) +
                          "': did you mean '" + nearest_name(given, valid) + "'? Valid are";
    for (const std::string_view name : valid) message += " " + std::string(name);
    throw usage_error(message);
}

} // namespace krylith::tool
