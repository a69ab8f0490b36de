// Registers that a kernel hands to the host through mapped host memory
// (device/cuda/posted_words.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/posted_words.hpp>
#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

inline constexpr int most_posted = 10;

/// What the scalars kernel posts when it ends: `count` places of kernel_context::slots, as the bits
/// of doubles, and then the rank's failure word. Plain data.
struct register_post {
    post_address to{}; ///< words null: nothing is posted
    std::int32_t count = 0;
    std::uint8_t slots[most_posted] = {};

    [[nodiscard]] KRYLITH_HD bool wanted() const { return to.words != nullptr; }
};

} // namespace krylith
