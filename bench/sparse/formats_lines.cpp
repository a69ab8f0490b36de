#include <krylith/bench/sparse/formats_lines.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <krylith/bench/common/measurement_failed.hpp>
#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/sparse/formats_peers.hpp>
#include <krylith/config.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/sparse/csr/csr_bytes.hpp>
#include <krylith/sparse/format.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>

namespace krylith::bench {

namespace {

/// A x by plain loops, and |A| |x|, to which rounding errors are proportional.
struct plain_product {
    std::vector<double> y;
    std::vector<double> scale;
};

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

/// Measures one format; formats::automatic is what krylith takes.
template <class T>
sparse_line measure_format(const sparse_case<T>& c, format_kind format, const std::vector<T>& x0,
                           const plain_product& expected) {
    const auto a = make_operator(*c.group, c.matrix, {.kind = operators::halo, .format = format});
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
    line.flops = 2 * c.matrix.nnz();
    line.bytes = c.matrix.nnz() * static_cast<std::int64_t>(sizeof(T) + 4) +
                 (c.matrix.rows + 1) * offset_bytes(c.matrix.nnz()) +
                 (c.matrix.rows + c.matrix.columns) * static_cast<std::int64_t>(sizeof(T));
    line.deviation = deviation_of(expected, result);
    // Above the rounding of sums of the longest rows in any order.
    const double allowed = 45.0 * std::numeric_limits<T>::epsilon();
    if (!(line.deviation <= allowed))
        throw measurement_failed(
            fmt::format("format {}: error {:.1e}", line.variant, line.deviation));
    return line;
}

template <class T>
double peer_seconds(const sparse_case<T>& c, [[maybe_unused]] bool cuda) {
#if KRYLITH_HAVE_CUDA
    if (cuda) return cusparse_product_seconds(c.on, c.repeats, c.matrix);
#endif
    return eigen_product_seconds(*c.on, c.repeats, c.matrix);
}

} // namespace

template <class T>
std::vector<sparse_line> formats_lines(const sparse_case<T>& c) {
    const bool cuda = c.on->kind() == backend::cuda;
    const std::vector<T> x = some_vector<T>(c.matrix.columns);
    const plain_product expected = multiply_plainly(c.matrix, x);
    const double beside = c.peers ? peer_seconds(c, cuda) : 0;
    const block_pattern pattern{c.matrix.row_offsets, c.matrix.column_indices, sizeof(T)};
    std::vector<sparse_line> lines;
    const auto add = [&](sparse_line line) {
        line.peer = !c.peers ? "" : cuda ? "cusparse" : "eigen";
        line.peer_seconds = beside;
        lines.push_back(std::move(line));
    };
    for (const format_kind format : formats::all) {
        if (format == formats::cusparse) continue; // the peer
        if (!(cuda ? format->on_cuda.get() : format->on_host.get())) continue;
        if ((*format->matrix_bytes.get())(pattern) > 4 * csr_bytes(pattern)) continue;
        add(measure_format(c, format, x, expected));
    }
    const sparse_line best = *std::ranges::min_element(lines, {}, &sparse_line::seconds);
    sparse_line taken = measure_format<T>(c, formats::automatic, x, expected);
    const auto same = std::ranges::find(lines, taken.variant, &sparse_line::variant);
    if (same != lines.end()) { // one measurement of a format, so that noise is no loss
        taken.seconds = same->seconds;
        taken.least = same->least;
    }
    taken.note = fmt::format("takes {}, the fastest is {}, lost {:.1f}%", taken.variant,
                             best.variant, 100 * (taken.seconds / best.seconds - 1));
    taken.variant = "auto";
    add(std::move(taken));
    return lines;
}

template std::vector<sparse_line> formats_lines(const sparse_case<double>&);
template std::vector<sparse_line> formats_lines(const sparse_case<float>&);

} // namespace krylith::bench
