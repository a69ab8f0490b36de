// The three passes of a CG iteration, each on its own: where the time goes.
#pragma once

#include <krylith/bench/slope.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

struct cg_passes {
    spread product;   ///< q = A p, dot(p, q)
    spread residual;  ///< r -= alpha q, dot(r, r)
    spread direction; ///< x += alpha p, p = r + beta p
};

/// Seconds of each. One device only: on several, the exchange ties a pass to the next. Throws
/// usage_error otherwise.
[[nodiscard]] cg_passes measure_passes(const matrix_operator<double>& a, execution_mode mode,
                                       const slope_effort& effort);

} // namespace krylith::bench
