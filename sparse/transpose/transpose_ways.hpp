// The two ways of transposing on a CUDA device.
#pragma once

#include <krylith/sparse/transpose/transpose_kernels.hpp>

namespace krylith::cuda {

/// Enqueues the transposition of a pattern with nonzeros by a sort over the device. Scratch: 16
/// bytes a nonzero and 8 that CUB needs, more from 2^32 nonzeros on.
template <class T>
void transpose_by_sort(const std::shared_ptr<device>& on, const pattern_view& a,
                       const transposed_arrays<T>& to);

/// Enqueues the transposition, tile by tile, where the columns of neighbouring rows are near each
/// other, and returns true. Otherwise returns false, about when the device found that out. Waits
/// for the device. Scratch: 800 bytes for some thousand nonzeros.
template <class T>
[[nodiscard]] bool transpose_in_tiles(const std::shared_ptr<device>& on, const pattern_view& a,
                                      const transposed_arrays<T>& to);

} // namespace krylith::cuda
