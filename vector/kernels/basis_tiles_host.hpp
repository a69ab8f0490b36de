// How passes over a basis are cut on a host device.
#pragma once

#include <cstdint>

#include <krylith/vector/kernels/host_chunks.hpp>

namespace krylith::host {

/// The number of basis vectors in one pass: the others are loaded once for all of them.
inline constexpr int vectors_a_pass = 4;

/// Entries of w that stay in the first-level cache while the basis streams past: 16 KiB, to give
/// each of the many streams a stretch long enough for hardware prefetching.
template <class T>
inline constexpr std::int64_t basis_tile = 4 * tile_size<T>;

/// The distance, in entries, at which products prefetch a basis vector (Zen 4, 2 threads, 30
/// vectors: 36-38 GB/s with this and 16 KiB tiles, 32-33 with neither).
inline constexpr int fetched_ahead = 512;

} // namespace krylith::host
