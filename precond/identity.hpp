// No preconditioning.
#pragma once

#include <krylith/vector/vector.hpp>

namespace krylith {

/// M = I. Solvers skip its application.
struct identity {
    [[nodiscard]] static constexpr const char* name() { return "none"; }
};

} // namespace krylith
