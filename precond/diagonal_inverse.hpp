// The inverse of a diagonal, where it lies.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith {

/// Enqueues d[i] = 1 / d[i] for i < count. Where an entry or its inverse is not finite the entry is
/// left, and *first_bad (device memory) becomes the least such i; it must hold a larger number.
template <class T>
void invert_diagonal(device& where, T* d, std::int64_t count, std::uint64_t* first_bad);

extern template void invert_diagonal(device&, double*, std::int64_t, std::uint64_t*);
extern template void invert_diagonal(device&, float*, std::int64_t, std::uint64_t*);

namespace cuda {

template <class T>
void invert_diagonal(device& where, T* d, std::int64_t count, std::uint64_t* first_bad);

} // namespace cuda

} // namespace krylith
