// The measurement of y = A x on a device group.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/common/workload.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith::bench {

struct spmv_numbers {
    spread product;           ///< seconds, the exchange of x included
    spread product_dot;       ///< the same with dot(x, y) in the pass; no samples: not measured
    double largest_error = 0; ///< max |y - A x| / |A| |x|
    std::vector<std::string> void_because;
};

/// Measures products; x is the workload's b, and `expected` is multiply_by_b() of it. Where vectors
/// are owned, a step is a kernel that sends what peers need of x and the product; where they are
/// replicated it is the product alone, which sends y to all.
template <class T>
[[nodiscard]] spmv_numbers
measure_spmv(const matrix_operator<T>& a, const workload& w, const reference_product& expected,
             const execution_options& options, const slope_effort& effort, bool with_dot);

/// Measures the time alone, of whatever the operator computes of the workload's b.
template <class T>
[[nodiscard]] spread time_products(const matrix_operator<T>& a, const workload& w,
                                   const execution_options& options, const slope_effort& effort);

/// The way in which products with this operator are repeated: `mode`, but eager instead of
/// automatic where the operator can't be recorded, as many at once as both runs of the effort are
/// multiples of.
template <class T>
[[nodiscard]] execution_options repeated_as(const matrix_operator<T>& a, execution_mode mode,
                                            const slope_effort& effort);

} // namespace krylith::bench
