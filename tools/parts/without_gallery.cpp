#include <krylith/tools/parts/missing_part.hpp>

namespace krylith::tool {

command add_gallery(CLI::App& parent) {
    return add_missing_part(parent, "gallery", "KRYLITH_GALLERY");
}

} // namespace krylith::tool
