// Chains of rows on a CUDA device: neighbouring rows each of which depends on the one before, as
// those of a line of a grid do.
//
// Rows of a chain must be solved one after the other, so a lane that takes a chain loses nothing;
// a lane that took rows across the ends of two lines would make the second wait for the first.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::cuda {

struct chain_starts {
    std::int64_t count = 0;
    bool sorted = false;         ///< whether columns descend in no row of the matrix
    buffer<std::int32_t> places; ///< [count] where each chain begins, in natural order of solving
    buffer<std::uint8_t> starts; ///< [rows] 1 where a chain begins; by place
};

/// Chains have at most `longest_chain` rows. Waits for the device.
inline constexpr std::int64_t longest_chain = 256;

template <class T>
[[nodiscard]] chain_starts find_chains(const std::shared_ptr<device>& device,
                                       const triangle_source<T>& a);

} // namespace krylith::cuda
