// Inverts small dense blocks in place.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/precond/blocks/block_view.hpp>
#include <krylith/precond/diagonal/diagonal_inverse.hpp>

namespace krylith::detail {

/// Blocks by their first rows, which ascend.
struct block_list {
    const std::int32_t* first = nullptr; ///< on the device
    std::int64_t count = 0;
    int largest = 0; ///< the most rows of a block
};

} // namespace krylith::detail

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues the inversion of the blocks of a list by Gauss and Jordan's method with pivots of
    /// largest magnitude in their columns; the inverse of a block that is symmetric, bit for bit,
    /// is made so too. On CUDA devices 8 lanes have a small block, a warp a large one, in
    /// registers. The report, zero before, gets the number in the list of the first block that has
    /// no finite inverse, as inversion_report::bad, and the exponent of the largest entry.
    template <class T> void invert_blocks(device& device, const detail::block_list& list,
                                          const detail::block_view<T>& blocks,
                                          inversion_report* report);)

} // namespace krylith
