#include <krylith/matrix/statistics.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/matrix/statistics/length_histogram.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

constexpr std::int64_t least_rows = 100;    ///< that a fit is made of
constexpr std::int64_t far_rows = 10;       ///< of these, that are `far` times as long as `from`
constexpr std::int64_t far = 10;            ///< a law says little of less than a decade
constexpr double largest_exponent = 20;     ///< so many far rows belong to a smaller one
constexpr double next_candidate = 1.1;      ///< how much longer it is at least
constexpr std::int64_t all_candidates = 32; ///< up to which every length is tried

/// The sum of (a + k)^-s over all k >= 0, for s > 1 and a >= 1: some terms, and the rest by the
/// formula of Euler and Maclaurin.
double hurwitz_zeta(double s, double a) {
    const int terms = a < 10 ? 10 - static_cast<int>(a) : 0;
    double sum = 0;
    for (int k = 0; k < terms; ++k) sum += std::pow(a + k, -s);
    a += terms;
    const double last = std::pow(a, -s);
    return sum + last * (a / (s - 1) + 0.5 + s / (12 * a) * (1 - (s + 1) * (s + 2) / (60 * a * a)));
}

/// Rows of one length, and of all lengths from it on.
struct length_class {
    std::int64_t length;
    std::int64_t rows;
    std::int64_t tail_rows;
    double tail_logarithms; ///< the sum over these rows
};

std::vector<length_class> classes_of(std::span<const std::int64_t> histogram) {
    std::vector<length_class> classes;
    for (std::size_t length = 1; length < histogram.size(); ++length)
        if (histogram[length] != 0)
            classes.push_back({static_cast<std::int64_t>(length), histogram[length], 0, 0});
    std::int64_t rows = 0;
    double logarithms = 0;
    for (std::size_t i = classes.size(); i-- > 0;) {
        rows += classes[i].rows;
        logarithms +=
            static_cast<double>(classes[i].rows) * std::log(static_cast<double>(classes[i].length));
        classes[i].tail_rows = rows;
        classes[i].tail_logarithms = logarithms;
    }
    return classes;
}

/// The exponent by which the lengths of the tail are likeliest. Their likelihood has one maximum,
/// which golden sections close in on.
double likeliest_exponent(const length_class& first) {
    const auto from = static_cast<double>(first.length);
    const double mean_logarithm = first.tail_logarithms / static_cast<double>(first.tail_rows);
    const auto unlikeliness = [&](double s) {
        return std::log(hurwitz_zeta(s, from)) + s * mean_logarithm;
    };
    const double golden = (std::sqrt(5.0) - 1) / 2;
    double low = 1 + 1e-6;
    double high = largest_exponent;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double of_left = unlikeliness(left);
    double of_right = unlikeliness(right);
    while (high - low > 1e-7) {
        if (of_left < of_right) {
            high = right;
            right = left;
            of_right = of_left;
            left = high - golden * (high - low);
            of_left = unlikeliness(left);
        } else {
            low = left;
            left = right;
            of_left = of_right;
            right = low + golden * (high - low);
            of_right = unlikeliness(right);
        }
    }
    return (low + high) / 2;
}

/// The standard error of an exponent: 1 / sqrt(rows times the second derivative of log zeta).
double deviation_of(const power_law& fit) {
    const auto from = static_cast<double>(fit.from);
    const double step = 1e-3 * (fit.exponent - 1);
    const auto logarithm = [&](double s) { return std::log(hurwitz_zeta(s, from)); };
    const double curvature = (logarithm(fit.exponent + step) - 2 * logarithm(fit.exponent) +
                              logarithm(fit.exponent - step)) /
                             (step * step);
    return 1 / std::sqrt(curvature * static_cast<double>(fit.rows));
}

/// The largest difference between the fraction of the tail's rows up to a length and the law's. It
/// lies at a length that there is, or just before the next.
double distance_of(std::span<const length_class> tail, double exponent) {
    const auto all = static_cast<double>(tail.front().tail_rows);
    const double whole = hurwitz_zeta(exponent, static_cast<double>(tail.front().length));
    double largest = 0;
    for (std::size_t i = 0; i < tail.size(); ++i) {
        const double beyond = static_cast<double>(tail[i].tail_rows - tail[i].rows) / all;
        const auto at = static_cast<double>(tail[i].length);
        for (const double next :
             {at + 1, i + 1 < tail.size() ? static_cast<double>(tail[i + 1].length) : at + 1})
            largest = std::max(largest, std::fabs(beyond - hurwitz_zeta(exponent, next) / whole));
    }
    return largest;
}

/// The lengths from which a law is tried: each of the short ones, of the long ones some.
std::vector<std::size_t> candidates_of(std::span<const length_class> classes) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        const auto beyond =
            std::ranges::lower_bound(classes, far * classes[i].length, {}, &length_class::length);
        if (classes[i].tail_rows < least_rows || beyond == classes.end() ||
            beyond->tail_rows < far_rows)
            break;
        if (candidates.empty() || classes[i].length <= all_candidates ||
            static_cast<double>(classes[i].length) >=
                next_candidate * static_cast<double>(classes[candidates.back()].length))
            candidates.push_back(i);
    }
    return candidates;
}

} // namespace

std::optional<power_law> fit_power_law(std::span<const std::int64_t> offsets) {
    std::int64_t most = 0;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        most = std::max(most, offsets[row + 1] - offsets[row]);
    const std::vector<length_class> classes = classes_of(length_histogram(offsets, most));
    const std::vector<std::size_t> candidates = candidates_of(classes);
    std::vector<power_law> fits(candidates.size());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t c = 0; c < std::ssize(candidates); ++c) {
        const std::span<const length_class> tail =
            std::span(classes).subspan(candidates[as_size(c)]);
        power_law& fit = fits[as_size(c)];
        fit.from = tail.front().length;
        fit.rows = tail.front().tail_rows;
        fit.exponent = likeliest_exponent(tail.front());
        fit.deviation = deviation_of(fit);
        fit.distance = distance_of(tail, fit.exponent);
    }
    const auto best = std::ranges::min_element(fits, {}, &power_law::distance);
    return best == fits.end() ? std::nullopt : std::optional(*best);
}

} // namespace krylith
