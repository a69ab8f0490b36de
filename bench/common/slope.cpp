#include <krylith/bench/common/slope.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

/// The quantile at `fraction`, interpolated between the two samples around it.
double quantile(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = place - std::floor(place);
    return (1 - weight) * sorted[below] + weight * sorted[above];
}

void check_least(const char* option, double given, int least) {
    if (!(given >= least)) {
        throw usage_error(fmt::format("{} is {}: allowed are {} and more", option, given, least));
    }
}

/// The seconds a step, and those of both runs together.
struct sample {
    double step = 0;
    double spent = 0;
};

sample sample_of(const timed_run& subject, const slope_effort& effort) {
    constexpr int most_tries = 20;
    sample result;
    for (int k = 0; k < most_tries && !(result.step > 0); ++k) {
        const double shorter = subject(effort.warm_up);
        const double longer = subject(effort.warm_up + effort.iterations);
        result.step = (longer - shorter) / static_cast<double>(effort.iterations);
        result.spent += longer + shorter;
    }
    return result;
}

} // namespace

spread spread_of(std::vector<double> samples) {
    if (samples.empty()) {
        throw usage_error("no samples to take the median of");
    }
    std::sort(samples.begin(), samples.end());
    return {quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.9),
            static_cast<int>(samples.size())};
}

void slope_effort::check() const {
    check_least("--warm-up", static_cast<double>(warm_up), 1);
    check_least("--iterations", static_cast<double>(iterations), 1);
    check_least("--repetitions", repetitions, 1);
    check_least("--seconds", seconds, 0);
    check_least("--warm-up-seconds", warm_up_seconds, 0);
}

int slope_effort::recording() const {
    check();
    const std::int64_t common = std::gcd(warm_up, iterations);
    std::int64_t steps = std::min<std::int64_t>(common, 40);
    while (common % steps != 0) {
        --steps;
    }
    return static_cast<int>(steps);
}

std::vector<spread> measure_slopes(std::span<const timed_run> subjects,
                                   const slope_effort& effort) {
    effort.check();
    for (const timed_run& run : subjects) {
        for (double spent = 0; spent <= effort.warm_up_seconds;) {
            spent += std::max(run(effort.warm_up + effort.iterations), 1e-6);
        }
    }
    std::vector<std::vector<double>> samples(subjects.size());
    std::vector<double> spent(subjects.size(), 0.0);
    const auto enough = [&](int done) {
        return done >= std::max(effort.most, effort.repetitions) ||
               (done >= effort.repetitions && *std::ranges::min_element(spent) >= effort.seconds);
    };
    for (int done = 0; !enough(done); ++done) {
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            const sample one = sample_of(subjects[i], effort);
            samples[i].push_back(one.step);
            spent[i] += one.spent;
        }
    }
    std::vector<spread> result;
    for (auto& of_subject : samples) {
        result.push_back(spread_of(std::move(of_subject)));
    }
    return result;
}

spread measure_slope(const timed_run& subject, const slope_effort& effort) {
    return measure_slopes({&subject, 1}, effort).front();
}

} // namespace krylith::bench
