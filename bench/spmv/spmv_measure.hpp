// The measurement of y = A x on a device group.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

struct spmv_numbers {
    spread product;           ///< seconds, the exchange of x included
    spread product_dot;       ///< the same with dot(x, y) in the pass; no samples: not measured
    double largest_error = 0; ///< max |y - A x| / |A| |x|
    std::vector<std::string> void_because;
};

/// x is the workload's b; `expected` is multiply_by_b() of it. Where vectors are owned, a step is a
/// kernel that sends what peers need of x and the product; where they are replicated it is the
/// product alone, which sends y to all.
[[nodiscard]] spmv_numbers measure_spmv(const matrix_operator<double>& a, const workload& w,
                                        const reference_product& expected, execution_mode mode,
                                        const slope_effort& effort, bool with_dot);

/// The time alone, of whatever the operator computes of the workload's b.
[[nodiscard]] spread time_products(const matrix_operator<double>& a, const workload& w,
                                   execution_mode mode, const slope_effort& effort);

/// auto (recorded where the operator can be), recorded or eager.
[[nodiscard]] execution_mode mode_named(const std::string& name, const matrix_operator<double>& a);

} // namespace krylith::bench
