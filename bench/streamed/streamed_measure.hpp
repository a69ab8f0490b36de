// The measurement of streamed products on a device group.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/streamed/streamed_arrays.hpp>

namespace krylith::bench {

struct streamed_effort {
    int repetitions = 20; ///< calls at least
    double seconds = 0.5; ///< and until they have taken this long, 10 times as many at most
    int warm_up = 3;      ///< calls before: buffers are allocated, clocks rise

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

/// Seconds of the phases of a call (streamed_times), and of its kernels alone.
struct streamed_numbers {
    spread partition, distribution, kernel, merge, total, conversion;
    spread kernel_alone;      ///< of the slowest device, on what lies on the devices
    double largest_error = 0; ///< max |y - A x| / |A| |x|
    std::vector<std::string> void_because;
};

/// `expected` is multiply_by_b() of the workload of the arrays. Void where the result is not right
/// or differs in a bit from that of the call before.
[[nodiscard]] streamed_numbers measure_streamed(streamed_contestant& product,
                                                streamed_arrays& arrays, bool pinned,
                                                const reference_product& expected,
                                                const streamed_effort& effort);

} // namespace krylith::bench
