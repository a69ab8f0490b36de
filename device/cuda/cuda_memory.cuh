// The slabs of a CUDA device.
#pragma once

#include <memory>

#include <krylith/device/cuda/exported_slabs.cuh>
#include <krylith/device/cuda/group_streams.cuh>
#include <krylith/device/memory/slab_arena.hpp>

namespace krylith::cuda {

/// Makes the arena from which a device allocates. Its slabs are of cudaMalloc, so that peers reach
/// them once peer access is enabled; `exported`, which must outlive it, frees them.
/// Slabs without a block in use are kept up to 1/16 of the device's memory. Returns null where the
/// environment has KRYLITH_SLABS=off: each allocation is then one of cudaMalloc, in which
/// compute-sanitizer sees each access beyond an end. Throws usage_error for another value than on
/// or off.
[[nodiscard]] std::unique_ptr<slab_arena>
make_arena(int ordinal, std::shared_ptr<group_streams> streams, exported_slabs& exported);

} // namespace krylith::cuda
