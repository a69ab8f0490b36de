// What cuSPARSE takes for ILU(0).
#pragma once

#include <memory>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

struct factors_peer_seconds {
    std::vector<double> analysis; ///< [repetitions]
    std::vector<double> factorisation;
};

/// csrilu02 by levels, which is deprecated and has no successor: natural order, its buffer kept;
/// the triangles of solves are not analysed. Columns ascend in each row. Offsets have 32 bits
/// there: throws usage_error for more nonzeros, and device_error where a call fails or a pivot is
/// 0. Defined where KRYLITH_HAVE_CUDA is 1.
[[nodiscard]] factors_peer_seconds cusparse_ilu0(const std::shared_ptr<device>& on,
                                                 const csr_matrix<double>& a, int repetitions);

} // namespace krylith::bench
