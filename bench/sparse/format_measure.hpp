// The time of a product y = A x in one format, checked against plain loops.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/bench/sparse/sparse_kernel.hpp>
#include <krylith/sparse/format.hpp>

namespace krylith::bench {

/// A x by plain loops, and |A| |x|, to which rounding errors are proportional.
struct plain_product {
    std::vector<double> y;
    std::vector<double> scale;
};

/// Numbers in [-1, 1), the same on every machine.
template <class T>
[[nodiscard]] std::vector<T> some_vector(std::int64_t size);

template <class T>
[[nodiscard]] plain_product multiply_plainly(const csr_matrix<T>& a, const std::vector<T>& x);

/// Measures one format in a recorded loop; formats::automatic is what krylith takes, and the line's
/// variant is its name. Throws measurement_failed where the product of x is not `expected`.
template <class T>
[[nodiscard]] sparse_line measure_format(const sparse_case<T>& c, format_kind format,
                                         const std::vector<T>& x, const plain_product& expected);

} // namespace krylith::bench
