// Steps of the power method in the maximum norm, over all devices of a group.
//
// Maxima have the same bits on any number of devices, which sums over rows, as of Lanczos' method,
// don't have. So the hierarchy depends on its matrix alone.
#pragma once

#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith::detail {

/// Returns an estimate of the largest eigenvalue of B, which is symmetric, with its eigenvalues in
/// [0, 1]: |B^k x|_max / |B^(k - 1) x|_max for x of +-1 by a hash of the global row. It is from
/// below but for a few percent. Cost: k products; waits for the devices.
template <class W>
[[nodiscard]] double power_estimate(const distributed_csr<W>& b, int k);

} // namespace krylith::detail

namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// Enqueues y_i = the product of row i with x, both by local columns; row i is first_owned + i.
    template <class W> void multiply_rows(device& on, const device_csr_view<W>& b,
                                          std::int64_t first_owned, const W* x, W* y);
    /// Enqueues *largest = max(*largest, |x_i|) over i < count, as the bits of a double.
    template <class W>
    void find_largest(device& on, std::int64_t count, const W* x, std::uint64_t* largest);)

} // namespace krylith
