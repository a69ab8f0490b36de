// The time a step, by the difference of a long and a short run: what every run costs once
// (recording, verification, first touch) drops out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace krylith::bench {

/// The median and the range that 80% of the samples lie in.
struct spread {
    double median = 0;
    double p10 = 0;
    double p90 = 0;
    int samples = 0;
};

/// Throws usage_error where there are no samples.
[[nodiscard]] spread spread_of(std::vector<double> samples);

struct slope_effort {
    std::int64_t warm_up = 40;     ///< steps of the short run
    std::int64_t iterations = 200; ///< steps that the long run has more
    int repetitions = 7;           ///< at least, of both
    int most = 40;                 ///< at most
    double seconds = 1;            ///< between the two: until a subject has run this long
    double warm_up_seconds = 0.3;  ///< a subject runs before it is timed: clocks rise late

    /// The most steps, at most 40, that both runs are multiples of: loops record so many at once.
    /// Throws what check() throws.
    [[nodiscard]] int recording() const;

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

/// Runs that many steps and returns the seconds they took.
using timed_run = std::function<double(std::int64_t steps)>;

/// Measures the seconds a step of each subject. Subjects alternate (A B A B), so that what disturbs
/// the machine for a while disturbs all of them. Where that made the shorter run the longer one,
/// both are run again, a few times.
[[nodiscard]] std::vector<spread> measure_slopes(std::span<const timed_run> subjects,
                                                 const slope_effort& effort);

[[nodiscard]] spread measure_slope(const timed_run& subject, const slope_effort& effort);

} // namespace krylith::bench
