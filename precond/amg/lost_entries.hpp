// Whether coefficients jump by so much that a hierarchy in fp32 loses what is soft.
#pragma once

#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith::detail {

/// Whether at least one row in 500 has an entry that fp32 loses beside its diagonal while it is
/// large in its other row, both times the near-null vector v, v being near_null[rank] on the rows
/// of a rank, with quotients of entries up to largest_quotient. Sums of rows of a coarse matrix are
/// then mostly rounding errors, where they should say how a stiff region hangs together with
/// others. One pass, where v varies enough; waits for the devices.
template <class W>
[[nodiscard]] bool loses_soft_entries(const distributed_csr<W>& b,
                                      const std::vector<buffer<W>>& near_null,
                                      double largest_quotient);

} // namespace krylith::detail
