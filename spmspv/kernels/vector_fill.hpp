// Kernels on the arrays of sparse vectors that need no form: constants, shifted indices, values
// from bits.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

// Each is enqueued on the device's stream. Templates exist for double, float and std::int32_t;
// fill() for std::uint32_t too.
#define KRYLITH_VECTOR_FILLS                                                                       \
    /** to[k] = from[k] + shift, k < count. */                                                     \
    void shift_indices(device& device, const std::int32_t* from, std::int32_t* to,                 \
                       std::int64_t count, std::int32_t shift);                                    \
    /** dense[i] = present where bit i is set, else absent. */                                     \
    template <class T>                                                                             \
    void spread_bits(device& device, const spmspv::vector_arrays<T>& v, T present);                \
    template <class T>                                                                             \
    void fill(device& device, T* to, std::int64_t count, T value);

namespace krylith::host {
KRYLITH_VECTOR_FILLS
} // namespace krylith::host

namespace krylith::cuda {
KRYLITH_VECTOR_FILLS
} // namespace krylith::cuda

#undef KRYLITH_VECTOR_FILLS
