// In place of bench/ where KRYLITH_BENCH is OFF.
#include <krylith/tools/cli/command.hpp>

namespace krylith::tool {

std::vector<benchmark> benchmarks() {
    return {};
}

} // namespace krylith::tool
