#include <krylith/device/memory/slabs_wanted.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>

namespace krylith {

bool slabs_wanted() {
    const char* const value = std::getenv("KRYLITH_SLABS"); // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = value == nullptr ? "on" : value;
    if (name == "on" || name.empty()) return true;
    if (name == "off") return false;
    throw usage_error("the environment variable KRYLITH_SLABS is '" + std::string(name) +
                      "': allowed are on, off");
}

} // namespace krylith
