#include <krylith/bench/streamed/streamed_measure.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

/// Rows of power-law graphs have 10^5 entries, and are summed in another order than the reference.
constexpr double allowed_streamed_error = 1e-12;

} // namespace

void streamed_effort::check() const {
    if (repetitions < 1 || warm_up < 1) {
        throw usage_error("measuring effort: repetitions and warm-up calls must be at least 1");
    }
    if (!(seconds >= 0)) {
        throw usage_error("measuring effort: seconds must not be negative");
    }
}

streamed_numbers measure_streamed(streamed_contestant& product, streamed_arrays& arrays,
                                  bool pinned, const reference_product& expected,
                                  const streamed_effort& effort) {
    streamed_numbers numbers;
    for (int i = 0; i < effort.warm_up; ++i) {
        (void)arrays.multiply(product, pinned);
    }
    numbers.largest_error = largest_error(expected, arrays.result());
    if (!(numbers.largest_error <= allowed_streamed_error)) {
        numbers.void_because.push_back(fmt::format("error {:.1e}", numbers.largest_error));
    }
    const std::vector<double> first(arrays.result().begin(), arrays.result().end());
    std::vector<streamed_times> all;
    double spent = 0;
    while (static_cast<int>(all.size()) < effort.repetitions ||
           (spent < effort.seconds && static_cast<int>(all.size()) < 10 * effort.repetitions)) {
        all.push_back(arrays.multiply(product, pinned));
        spent += all.back().total;
    }
    if (std::memcmp(first.data(), arrays.result().data(), first.size() * sizeof(double)) != 0) {
        numbers.void_because.emplace_back("two calls differ");
    }
    const auto of = [&](double streamed_times::*phase) {
        std::vector<double> samples;
        std::ranges::transform(all, std::back_inserter(samples),
                               [&](const streamed_times& t) { return t.*phase; });
        return spread_of(std::move(samples));
    };
    numbers.partition = of(&streamed_times::partition);
    numbers.distribution = of(&streamed_times::distribution);
    numbers.kernel = of(&streamed_times::kernel);
    numbers.merge = of(&streamed_times::merge);
    numbers.total = of(&streamed_times::total);
    numbers.conversion = of(&streamed_times::conversion);
    std::vector<double> kernels;
    for (int i = 0; i < 5; ++i) {
        kernels.push_back(product.kernel_seconds(effort.repetitions));
    }
    numbers.kernel_alone = spread_of(std::move(kernels));
    return numbers;
}

} // namespace krylith::bench
