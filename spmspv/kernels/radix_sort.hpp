// Stable sorting by 32-bit keys on CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::cuda {

/// Keys, and values of 4 or 8 bytes beside them, in two places each: sorting uses both.
struct sort_arrays {
    std::uint32_t* keys[2];
    void* values[2];
};

/// For keys of any number of bits, on the current device. At most 2^31 - 1 pairs.
[[nodiscard]] std::size_t sort_scratch_bytes(std::int64_t count, std::size_t value_bytes);

/// Enqueues the sorting of what is in place 0 by the `bits` lowest bits; returns the place that
/// will have the result. 8 + 2 s bytes a pair read or written twice for each 8 bits. `scratch`:
/// sort_scratch_bytes(), 256-byte aligned.
[[nodiscard]] int sort_pairs(device& device, const sort_arrays& arrays, std::int64_t count,
                             std::size_t value_bytes, int bits, void* scratch);

} // namespace krylith::cuda
