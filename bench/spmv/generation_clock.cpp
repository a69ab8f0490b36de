#include <krylith/bench/spmv/generation_clock.hpp>

#include <krylith/bench/common/workload.hpp>

namespace krylith::bench {

double generation_clock::predict(const spmv_case& c) {
    if (c.size.empty()) {
        return 0;
    }
    if (!seconds_a_million_.contains(c.family)) {
        const spmv_case least = smallest_member(c);
        (void)make_workload(least.matrix); // the first run is slow
        took(least, make_workload(least.matrix).seconds);
    }
    return seconds_a_million_.at(c.family) * usual_millions(c.size);
}

void generation_clock::took(const spmv_case& c, double seconds) {
    if (!c.size.empty()) {
        seconds_a_million_[c.family] = seconds / usual_millions(c.size);
    }
}

} // namespace krylith::bench
