#include <krylith/tools/cli/names.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith::tool {

void check_name(std::string_view what, std::string_view given,
                std::span<const std::string_view> valid, std::span<const name_alias> aliases) {
    if (std::ranges::find(valid, given) != valid.end()) return;
    throw usage_error("unknown " + std::string(what) + " '" + std::string(given) + "'" +
                      name_advice(given, valid, aliases));
}

} // namespace krylith::tool
