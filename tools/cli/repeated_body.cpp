#include <krylith/tools/cli/repeated_body.hpp>

#include <utility>

#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

repeated_body::repeated_body(execution& run, std::function<void()> body)
    : run_(run), body_(std::move(body)) {}

void repeated_body::repeat(std::int64_t trips) {
    repeat_trips(run_, body_, trips);
}

double repeated_body::seconds_a_trip(std::int64_t warm_up, std::int64_t trips) {
    repeat(warm_up);
    const std::int64_t all = whole_recordings(trips);
    stopwatch watch;
    repeat(all);
    return watch.lap() / static_cast<double>(all);
}

} // namespace krylith::tool
