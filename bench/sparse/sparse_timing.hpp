// The seconds of work on a device, from idle to idle.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/device/device.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

struct repeated_seconds {
    double median = 0;
    double least = 0;
};

/// Calls run() once, then `repeats` times, each from an idle device to an idle device, and times
/// these. A sample is `calls` runs in a row, so that what a wait costs (about 10 us on CUDA) is
/// divided by them.
template <class Run>
[[nodiscard]] repeated_seconds time_runs(device& on, int repeats, const Run& run, int calls = 1) {
    run();
    on.synchronize();
    std::vector<double> seconds;
    for (int i = 0; i < repeats; ++i) {
        const tool::stopwatch watch;
        for (int call = 0; call < calls; ++call) run();
        on.synchronize();
        seconds.push_back(watch.seconds() / calls);
    }
    const double least = std::ranges::min(seconds);
    return {spread_of(std::move(seconds)).median, least};
}

} // namespace krylith::bench
