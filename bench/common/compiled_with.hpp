// The versions and flags of this build, for reports.
#pragma once

#include <string>

namespace krylith::bench {

struct build_facts {
    std::string library;  ///< krylith's version
    std::string compiler; ///< "gcc 13.2.0"
    std::string flags;
    std::string cuda; ///< "13.0.88", or "none"
};

[[nodiscard]] build_facts compiled_with();

} // namespace krylith::bench
