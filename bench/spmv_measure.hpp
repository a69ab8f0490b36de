// The measurement of y = A x on a device group.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/slope.hpp>
#include <krylith/bench/workload.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

struct spmv_numbers {
    spread product;           ///< seconds, the exchange of x included
    spread product_dot;       ///< the same with dot(x, y) in the pass
    double largest_error = 0; ///< max |y - A x| / |A| |x|
    std::vector<std::string> void_because;
};

/// x is the workload's b; `expected` is multiply_by_b() of it.
[[nodiscard]] spmv_numbers measure_spmv(const matrix_operator<double>& a, const workload& w,
                                        const reference_product& expected, execution_mode mode,
                                        const slope_effort& effort);

} // namespace krylith::bench
