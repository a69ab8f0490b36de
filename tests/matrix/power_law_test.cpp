// Power laws of row lengths: known ones are found again, and the fit is the best of a plain search.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/statistics.hpp>

namespace krylith {

namespace {

/// The sum of k^-s from `first` on: a million terms, and an integral for the rest.
double plain_zeta(double s, std::int64_t first) {
    const std::int64_t last = first + 1'000'000;
    double sum = 0;
    for (std::int64_t k = last - 1; k >= first; --k) sum += std::pow(static_cast<double>(k), -s);
    return sum + std::pow(static_cast<double>(last) - 0.5, 1 - s) / (s - 1);
}

/// As many lengths of each kind as a law gives `rows` rows, without chance: quantiles.
std::vector<std::int64_t> lengths_by_law(double s, std::int64_t from, std::int64_t rows) {
    const double whole = plain_zeta(s, from);
    std::vector<std::int64_t> lengths;
    double below = 0; // the fraction of shorter rows
    std::int64_t k = from;
    for (std::int64_t i = 0; i < rows; ++i) {
        const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(rows);
        while (below + std::pow(static_cast<double>(k), -s) / whole < quantile)
            below += std::pow(static_cast<double>(k++), -s) / whole;
        lengths.push_back(k);
    }
    return lengths;
}

/// The standard error of the exponent, whose curvature is the variance of log k: a million terms of
/// k^-s (log k)^p, and an integral for the rest.
double plain_deviation(const power_law& law) {
    const double s = law.exponent;
    const std::int64_t last = law.from + 1'000'000;
    double sums[3] = {};
    for (std::int64_t k = last - 1; k >= law.from; --k) {
        const double logarithm = std::log(static_cast<double>(k));
        double term = std::pow(static_cast<double>(k), -s);
        for (double& sum : sums) {
            sum += term;
            term *= logarithm;
        }
    }
    const double end = static_cast<double>(last) - 0.5;
    const double rest = std::pow(end, 1 - s) / (s - 1);
    const double logarithm = std::log(end);
    const double step = 1 / (s - 1);
    sums[0] += rest;
    sums[1] += rest * (logarithm + step);
    sums[2] += rest * (logarithm * logarithm + 2 * step * (logarithm + step));
    const double mean = sums[1] / sums[0];
    return 1 / std::sqrt((sums[2] / sums[0] - mean * mean) * static_cast<double>(law.rows));
}

std::optional<power_law> fit(const std::vector<std::int64_t>& lengths) {
    std::vector<std::int64_t> offsets{0};
    for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
    return fit_power_law(offsets);
}

} // namespace

TEST_CASE("power law: the exponent of lengths that follow one") {
    for (const double s : {1.8, 2.5, 3.0})
        for (const std::int64_t from : {1, 2, 7}) {
            CAPTURE(s);
            CAPTURE(from);
            auto lengths = lengths_by_law(s, from, 30000);
            const auto found = fit(lengths);
            REQUIRE(found);
            CHECK(found->exponent == doctest::Approx(s).epsilon(0.02));
            CHECK(found->distance < 0.005);
            CHECK(found->from >= from);
            CHECK(found->deviation == doctest::Approx(plain_deviation(*found)).epsilon(1e-3));
            // Any other lengths below, and the order of rows, don't matter.
            for (std::int64_t i = 0; i < 20000; ++i) lengths.push_back(i % from);
            std::reverse(lengths.begin(), lengths.end());
            const auto again = fit(lengths);
            REQUIRE(again);
            CHECK(again->exponent == doctest::Approx(s).epsilon(0.03));
            CHECK(again->from >= from);
        }
}

TEST_CASE("power law: the likeliest exponent, and the distance, of a plain search") {
    // No law: half of the rows by one, half by another.
    auto lengths = lengths_by_law(1.9, 2, 2000);
    const auto others = lengths_by_law(2.8, 5, 2000);
    lengths.insert(lengths.end(), others.begin(), others.end());
    const auto found = fit(lengths);
    REQUIRE(found);
    double logarithms = 0;
    std::int64_t rows = 0;
    for (const std::int64_t length : lengths)
        if (length >= found->from) {
            ++rows;
            logarithms += std::log(static_cast<double>(length));
        }
    CHECK(found->rows == rows);
    const auto likelihood = [&](double s) {
        return -static_cast<double>(rows) * std::log(plain_zeta(s, found->from)) - s * logarithms;
    };
    for (const double step : {-0.01, -0.001, 0.001, 0.01})
        CHECK(likelihood(found->exponent) > likelihood(found->exponent + step));
    const double whole = plain_zeta(found->exponent, found->from);
    const std::int64_t longest = *std::ranges::max_element(lengths);
    double distance = 0;
    double law = 0;
    std::int64_t up_to = 0;
    for (std::int64_t k = found->from; k <= longest; ++k) {
        law += std::pow(static_cast<double>(k), -found->exponent) / whole;
        up_to += std::ranges::count(lengths, k);
        distance = std::max(
            distance, std::fabs(static_cast<double>(up_to) / static_cast<double>(rows) - law));
    }
    CHECK(found->distance == doctest::Approx(distance).epsilon(1e-6));
}

TEST_CASE("power law: nothing is said of few rows, or of lengths of one size") {
    CHECK_FALSE(fit({}));
    CHECK_FALSE(fit({0, 0, 0}));
    CHECK_FALSE(fit(std::vector<std::int64_t>(5000, 7)));
    std::vector<std::int64_t> lengths(5000, 3);
    lengths.insert(lengths.end(), 9, 1000); // 9 long rows are no tail
    CHECK_FALSE(fit(lengths));
    lengths.push_back(1000);
    CHECK(fit(lengths));
    const auto all = lengths_by_law(2, 1, 2000);
    CHECK(fit(all));
    CHECK_FALSE(fit(lengths_by_law(2, 1, 80)));
}

} // namespace krylith
