#include <krylith/bench/spmv/spmv_measure.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <krylith/bench/common/repeated.hpp>
#include <krylith/solvers/concepts.hpp>

namespace krylith::bench {

namespace {

/// A factor above the rounding errors of a few dozen additions.
constexpr double allowed_error = 1e-14;

spread time_steps(repeated& loop, const matrix_operator<double>& a, vector<double>& x,
                  vector<double>& y, const slope_effort& effort) {
    return measure_slope(
        [&](std::int64_t steps) {
            return loop.seconds(steps, [&] {
                put_ghosts(loop.run(), x);
                multiply(loop.run(), a, x, y);
            });
        },
        effort);
}

} // namespace

spmv_numbers measure_spmv(const matrix_operator<double>& a, const workload& w,
                          const reference_product& expected, execution_mode mode,
                          const slope_effort& effort, bool with_dot) {
    const device_group& group = a.layout()->group;
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(w.b);
    spmv_numbers numbers;
    const auto check = [&](const char* what) {
        std::vector<double> result(w.b.size());
        y.download(result);
        const double error = largest_error(expected, result);
        if (!(error <= allowed_error)) {
            numbers.void_because.push_back(fmt::format("{}: error {:.1e}", what, error));
        }
        numbers.largest_error = std::max(numbers.largest_error, error);
        return result;
    };
    std::vector<double> plain;
    {
        repeated loop(group, mode, effort.trip());
        numbers.product = time_steps(loop, a, x, y, effort);
        plain = check("product");
    }
    if (!(numbers.product.median > 0)) {
        numbers.void_because.emplace_back("the long run took no longer than the short one");
    }
    if (!with_dot) {
        return numbers;
    }
    y.zero();
    repeated loop(group, mode, effort.trip());
    scalar xy(loop.run());
    numbers.product_dot = measure_slope(
        [&](std::int64_t steps) {
            return loop.seconds(steps, [&] {
                put_ghosts(loop.run(), x);
                multiply(loop.run(), a, x, y, xy = dot(x, y));
            });
        },
        effort);
    const std::vector<double> again = check("product with dot");
    if (std::memcmp(plain.data(), again.data(), plain.size() * sizeof(double)) != 0) {
        numbers.void_because.emplace_back("other bits with the dot product in the pass");
    }
    const double sum = loop.run().get(xy.number());
    if (!(std::fabs(sum - expected.dot) <= 1e-10 * std::fabs(expected.dot))) {
        numbers.void_because.push_back(fmt::format("dot is {} instead of {}", sum, expected.dot));
    }
    return numbers;
}

spread time_products(const matrix_operator<double>& a, const workload& w, execution_mode mode,
                     const slope_effort& effort) {
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(w.b);
    repeated loop(a.layout()->group, mode, effort.trip());
    return time_steps(loop, a, x, y, effort);
}

execution_mode mode_named(const std::string& name, const matrix_operator<double>& a) {
    return name == "recorded" ? execution_mode::recorded
           : name == "eager"  ? execution_mode::eager
           : a.recordable()   ? execution_mode::automatic
                              : execution_mode::eager;
}

} // namespace krylith::bench
