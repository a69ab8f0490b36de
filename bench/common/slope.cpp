#include <krylith/bench/common/slope.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith::bench {

namespace {

/// Between the two samples that the share falls between.
double quantile(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = place - std::floor(place);
    return (1 - weight) * sorted[below] + weight * sorted[above];
}

void refuse_unless(bool allowed, const char* what) {
    if (!allowed) {
        throw usage_error(std::string("measuring effort: ") + what);
    }
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
    refuse_unless(few >= 1 && many > few, "steps must be at least 1, and more in the long run");
    refuse_unless(repetitions >= 1 && most >= repetitions,
                  "repetitions must be at least 1, and the most not less");
    refuse_unless(seconds >= 0 && warm_up >= 0, "seconds must not be negative");
}

int slope_effort::trip() const {
    check();
    const std::int64_t common = std::gcd(few, many);
    std::int64_t trip = std::min<std::int64_t>(common, 40);
    while (common % trip != 0) {
        --trip;
    }
    return static_cast<int>(trip);
}

std::vector<spread> measure_slopes(std::span<const timed_run> subjects,
                                   const slope_effort& effort) {
    effort.check();
    for (const timed_run& run : subjects) {
        for (double spent = 0; spent <= effort.warm_up;) {
            spent += std::max(run(effort.many), 1e-6);
        }
    }
    std::vector<std::vector<double>> samples(subjects.size());
    std::vector<double> spent(subjects.size(), 0.0);
    const auto steps = static_cast<double>(effort.many - effort.few);
    const auto enough = [&](int done) {
        return done >= effort.most ||
               (done >= effort.repetitions && *std::ranges::min_element(spent) >= effort.seconds);
    };
    for (int done = 0; !enough(done); ++done) {
        for (std::size_t i = 0; i < subjects.size(); ++i) {
            const double shorter = subjects[i](effort.few);
            const double longer = subjects[i](effort.many);
            samples[i].push_back((longer - shorter) / steps);
            spent[i] += longer + shorter;
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
