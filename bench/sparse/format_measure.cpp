#include <krylith/bench/sparse/format_measure.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/sparse/sparse_timing.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>

namespace krylith::bench {

template <class T>
std::vector<T> some_vector(std::int64_t size) {
    std::vector<T> x(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<T>(static_cast<double>(counter_hash(7, i, 0) >> 11) * 0x1p-52 - 1);
    return x;
}

template <class T>
plain_product multiply_plainly(const csr_matrix<T>& a, const std::vector<T>& x) {
    const auto rows = static_cast<std::size_t>(a.rows);
    plain_product result{std::vector<double>(rows), std::vector<double>(rows)};
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row) {
        double sum = 0;
        double scale = 0;
        for (std::int64_t k = a.row_offsets.data()[row]; k < a.row_offsets.data()[row + 1]; ++k) {
            const double term =
                static_cast<double>(a.values.data()[k]) *
                static_cast<double>(x[static_cast<std::size_t>(a.column_indices.data()[k])]);
            sum += term;
            scale += std::fabs(term);
        }
        result.y[static_cast<std::size_t>(row)] = sum;
        result.scale[static_cast<std::size_t>(row)] = scale;
    }
    return result;
}

namespace {

/// The largest error of a row over its scale.
template <class T>
double deviation_of(const plain_product& expected, const std::vector<T>& y) {
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::fabs(static_cast<double>(y[i]) - expected.y[i]);
        if (error == 0) continue;
        const double relative = error / expected.scale[i];
        if (!(relative <= worst)) worst = relative; // NaN, too
    }
    return worst;
}

/// The median time of making the format of rows that lie on the device.
template <class T>
double set_up_seconds(const sparse_case<T>& c, const operator_options& options) {
    const distributed_csr<T> there(*c.group, csr_view<T>(c.matrix), equal_rows(c.matrix.rows, 1),
                                   equal_rows(c.matrix.columns, 1));
    return time_runs(*c.on, std::min(c.repeats, 3), [&] { (void)make_operator(there, options); })
        .median;
}

} // namespace

template <class T>
sparse_line measure_format(const sparse_case<T>& c, format_kind format, const std::vector<T>& x0,
                           const plain_product& expected) {
    const operator_options options{.kind = operators::halo, .format = format};
    const double set_up = set_up_seconds(c, options);
    const auto a = make_operator(*c.group, c.matrix, options);
    auto x = a->make_domain_vector();
    auto y = a->make_range_vector();
    x.upload(x0);
    const slope_effort effort{.warm_up = 20,
                              .iterations = 100,
                              .repetitions = c.repeats,
                              .most = c.repeats,
                              .seconds = 0.01,
                              .warm_up_seconds = 0.05};
    const auto mode = a->recordable() ? execution_mode::automatic : execution_mode::eager;
    timed_loop loop(*c.group, {.mode = mode, .unroll = effort.recording()});
    const spread seconds = measure_slope(
        [&](std::int64_t steps) {
            return loop.seconds(steps, [&] { multiply(loop.run(), *a, x, y); });
        },
        effort);
    std::vector<T> result(expected.y.size());
    y.download(result);
    sparse_line line;
    line.kernel = "formats";
    line.variant = a->format_name();
    line.seconds = seconds.median;
    line.least = seconds.p10;
    line.set_up = set_up;
    line.flops = 2 * c.matrix.nnz();
    line.bytes = c.matrix.nnz() * static_cast<std::int64_t>(sizeof(T) + 4) +
                 (c.matrix.rows + 1) * offset_bytes(c.matrix.nnz()) +
                 (c.matrix.rows + c.matrix.columns) * static_cast<std::int64_t>(sizeof(T));
    line.deviation = deviation_of(expected, result);
    if (a->narrow_fraction() > 0)
        line.note = fmt::format("{:.3g}% of the values narrow", 100 * a->narrow_fraction());
    // Above the rounding of sums of the longest rows in any order.
    const double allowed = 45.0 * std::numeric_limits<T>::epsilon();
    if (!(line.deviation <= allowed))
        throw measurement_failed(
            fmt::format("format {}: error {:.1e}", line.variant, line.deviation));
    return line;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<T> some_vector(std::int64_t);                                             \
    template plain_product multiply_plainly(const csr_matrix<T>&, const std::vector<T>&);          \
    template sparse_line measure_format(const sparse_case<T>&, format_kind, const std::vector<T>&, \
                                        const plain_product&);
KRYLITH_INSTANTIATE(double)
KRYLITH_INSTANTIATE(float)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::bench
