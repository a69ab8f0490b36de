// Loads of data that a kernel reads once.
#pragma once

namespace krylith::cuda {

/// Loads a matrix entry. Entries are read once and should not push x out of the caches.
template <class V>
__device__ inline V load_once(const V* from) {
    return __ldcs(from);
}

} // namespace krylith::cuda
