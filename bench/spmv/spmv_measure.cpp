#include <krylith/bench/spmv/spmv_measure.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>

namespace krylith::bench {

namespace {

/// A factor above the rounding errors of a few dozen additions.
template <class T>
constexpr double allowed_product_error = 45.0 * std::numeric_limits<T>::epsilon();
/// The relative tolerance of a dot product of vectors of all rows.
template <class T>
constexpr double allowed_dot_error = sizeof(T) == sizeof(float) ? 1e-4 : 1e-10;

template <class T>
spread time_steps(timed_loop& loop, const matrix_operator<T>& a, vector<T>& x, vector<T>& y,
                  const slope_effort& effort) {
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

template <class T>
spmv_numbers measure_spmv(const matrix_operator<T>& a, const workload& w,
                          const reference_product& expected, const execution_options& options,
                          const slope_effort& effort, bool with_dot) {
    const device_group& group = a.comm().devices();
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(w.rhs_of<T>());
    spmv_numbers numbers;
    const auto check = [&](const char* what) {
        std::vector<T> result(w.b.size());
        y.download(result);
        const double error =
            largest_error(expected, std::vector<double>(result.begin(), result.end()));
        if (!(error <= allowed_product_error<T>)) {
            numbers.void_because.push_back(fmt::format("{}: error {:.1e}", what, error));
        }
        numbers.largest_error = std::max(numbers.largest_error, error);
        return result;
    };
    std::vector<T> plain;
    {
        timed_loop loop(group, options);
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
    timed_loop loop(group, options);
    scalar xy(loop.run());
    numbers.product_dot = measure_slope(
        [&](std::int64_t steps) {
            return loop.seconds(steps, [&] {
                put_ghosts(loop.run(), x);
                multiply(loop.run(), a, x, y, xy = dot(x, y));
            });
        },
        effort);
    const std::vector<T> again = check("product with dot");
    if (std::memcmp(plain.data(), again.data(), plain.size() * sizeof(T)) != 0) {
        numbers.void_because.emplace_back("other bits with the dot product in the pass");
    }
    const double sum = loop.run().get(xy.number());
    if (!(std::fabs(sum - expected.dot) <= allowed_dot_error<T> * std::fabs(expected.dot))) {
        numbers.void_because.push_back(fmt::format("dot is {} instead of {}", sum, expected.dot));
    }
    return numbers;
}

template <class T>
spread time_products(const matrix_operator<T>& a, const workload& w,
                     const execution_options& options, const slope_effort& effort) {
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    x.upload(w.rhs_of<T>());
    timed_loop loop(a.comm(), options);
    return time_steps(loop, a, x, y, effort);
}

template <class T>
execution_options repeated_as(const matrix_operator<T>& a, execution_mode mode,
                              const slope_effort& effort) {
    if (mode == execution_mode::automatic && !a.recordable()) {
        mode = execution_mode::eager;
    }
    return {.mode = mode, .unroll = effort.recording()};
}

template spmv_numbers measure_spmv(const matrix_operator<double>&, const workload&,
                                   const reference_product&, const execution_options&,
                                   const slope_effort&, bool);
template spmv_numbers measure_spmv(const matrix_operator<float>&, const workload&,
                                   const reference_product&, const execution_options&,
                                   const slope_effort&, bool);
template spread time_products(const matrix_operator<double>&, const workload&,
                              const execution_options&, const slope_effort&);
template spread time_products(const matrix_operator<float>&, const workload&,
                              const execution_options&, const slope_effort&);
template execution_options repeated_as(const matrix_operator<double>&, execution_mode,
                                       const slope_effort&);
template execution_options repeated_as(const matrix_operator<float>&, execution_mode,
                                       const slope_effort&);

} // namespace krylith::bench
