// A sign by number.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::detail {

/// +1 or -1 by the finaliser of MurmurHash3 (Appleby), the same on host and GPU.
template <class W>
[[nodiscard]] KRYLITH_HD W hashed_sign(std::int64_t number) {
    auto h = static_cast<std::uint64_t>(number) + 1;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    h ^= h >> 33;
    return (h & 1) != 0 ? W(1) : W(-1);
}

} // namespace krylith::detail
