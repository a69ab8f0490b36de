// Whether a matrix is one for classical coarsening.
#pragma once

#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith::detail {

/// Whether more than a third of the rows of B, whose diagonal entries are `diagonal`, are rough
/// (coarsening/rough_rows_step.hpp), or jumps are nearly everywhere: more than four fifths of the
/// rows have a neighbour where the near-null vector is twice as large or small, and in more than a
/// fifth entries differ. Less than one in 20 may have a large positive entry. near_null[rank] is
/// the near-null vector on the rows of a rank. A pass over a sample of about
/// 65,000 rows; waits for the devices.
template <class W>
[[nodiscard]] bool is_rough(const distributed_csr<W>& b, double diagonal, double theta,
                            const std::vector<buffer<W>>& near_null);

} // namespace krylith::detail
