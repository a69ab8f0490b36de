// A random symmetric scaling, which makes the entries of a constant stencil differ.
#pragma once

#include <cstdint>

namespace krylith {

/// The seed of a diagonal D with entries in [0.5, 1.5): a generator that is given one returns D A
/// D. It keeps pattern, symmetry and definiteness, but no two values are alike: a kernel can't
/// profit from a constant stencil.
struct random_scaling {
    std::uint64_t seed = 0;
};

} // namespace krylith
