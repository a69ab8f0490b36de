#include <krylith/tools/parts/missing_part.hpp>

namespace krylith::tool {

command add_graph(CLI::App& parent) {
    return add_missing_part(parent, "graph", "KRYLITH_GRAPHS");
}

} // namespace krylith::tool
