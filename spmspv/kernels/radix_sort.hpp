// Stable sorting by 32-bit keys on CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::cuda {

/// Keys, with values of 4 or 8 bytes, in two places each: sorting uses both.
struct sort_arrays {
    std::uint32_t* keys[2];
    void* values[2];
};

/// The bytes of scratch for keys of any number of bits, on the current device. At most 2^31 - 1
/// pairs.
[[nodiscard]] std::size_t sort_scratch_bytes(std::int64_t count, std::size_t value_bytes);

/// Enqueues the sorting of place 0 by the `bits` lowest bits; returns the place that will have the
/// result. For each 8 bits 8 + 2 s bytes a pair are read or written twice. `scratch`:
/// sort_scratch_bytes(), 256-byte aligned.
[[nodiscard]] int sort_pairs(device& device, const sort_arrays& arrays, std::int64_t count,
                             std::size_t value_bytes, int bits, void* scratch);

} // namespace krylith::cuda
