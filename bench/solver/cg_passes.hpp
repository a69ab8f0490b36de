// The cost of each of the three passes of a CG iteration.
#pragma once

#include <krylith/bench/common/slope.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

/// Times in seconds.
struct cg_passes {
    double all = 0;       ///< the three, without the scalars of CG
    double product = 0;   ///< q = A p, dot(p, q)
    double residual = 0;  ///< r -= alpha q, dot(r, r)
    double direction = 0; ///< x += alpha p, p = r + beta p
};

/// Measures each pass as what a loop of the three is faster by without it: alone, a pass may find
/// in the cache what the others would have driven out. It needs one device: on several, the
/// exchange ties a pass to the next. Throws usage_error otherwise.
[[nodiscard]] cg_passes measure_passes(const matrix_operator<double>& a, execution_mode mode,
                                       const slope_effort& effort);

} // namespace krylith::bench
