#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/spmv/spmv_run.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/model/models.hpp>
#include <krylith/tools/solve/placement.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith::tool {

namespace {

constexpr std::int64_t warm_up_products = 16;

/// An entry of A x, or of A' x, in the widest type.
struct exact_sum {
    long double sum = 0;
    long double magnitudes = 0;
    std::int64_t terms = 0;

    void add(long double product) {
        sum += product;
        magnitudes += std::fabs(product);
        ++terms;
    }
};

/// Compares an entry of y with what the devices computed.
template <class T>
void compare(const spmv_request& request, exact_sum exact, T y, T result, spmv_outcome& out) {
    const auto alpha = static_cast<long double>(static_cast<T>(request.alpha));
    const auto beta = static_cast<long double>(static_cast<T>(request.beta));
    exact.sum *= alpha;
    exact.magnitudes *= std::fabs(alpha);
    if (beta != 0) {
        exact.sum += beta * y;
        exact.magnitudes += std::fabs(beta * y);
    }
    const auto difference = static_cast<double>(std::fabs(result - exact.sum));
    const double relative =
        difference == 0 ? 0 : difference / static_cast<double>(exact.magnitudes);
    const double rounding =
        static_cast<double>(exact.terms + 4) * std::numeric_limits<T>::epsilon();
    if (!(relative <= rounding)) out.agrees = false;
    if (!(difference <= out.largest_difference)) out.largest_difference = difference;
    if (!(relative <= out.relative_difference)) out.relative_difference = relative;
}

} // namespace

template <class T>
void compare_with_loop(const spmv_request& request, const csr_matrix<T>& matrix,
                       std::span<const T> x, std::span<const T> y, std::span<const T> result,
                       spmv_outcome& out) {
    out.agrees = true;
    std::vector<exact_sum> columns(request.transpose ? result.size() : 0);
    const auto rows = static_cast<std::size_t>(matrix.rows);
    for (std::size_t row = 0; row < rows; ++row) {
        const auto last = static_cast<std::size_t>(matrix.row_offsets[row + 1]);
        exact_sum exact;
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[row]); k < last; ++k) {
            const auto column = static_cast<std::size_t>(matrix.column_indices[k]);
            const auto value = static_cast<long double>(matrix.values[k]);
            if (request.transpose)
                columns[column].add(value * x[row]);
            else
                exact.add(value * x[column]);
        }
        if (!request.transpose) compare<T>(request, exact, y[row], result[row], out);
    }
    for (std::size_t j = 0; j < columns.size(); ++j)
        compare<T>(request, columns[j], y[j], result[j], out);
}

namespace {

template <class T>
std::vector<T> multiply_once(const spmv_request& request, const matrix_operator<T>& a, vector<T>& x,
                             std::span<const T> y_values) {
    auto y = a.make_range_vector("y");
    if (request.beta != 0) y.upload(y_values);
    execution run(a.comm(), {.mode = execution_mode::eager});
    put_ghosts(run, x);
    a.apply(run, static_cast<T>(request.alpha), x, static_cast<T>(request.beta), y);
    run.flush();
    run.comm().synchronize();
    std::vector<T> result(static_cast<std::size_t>(y.size()));
    y.download(result);
    return result;
}

} // namespace

template <class T>
double time_product(const matrix_operator<T>& a, vector<T>& x, T alpha, T beta, std::int64_t trips,
                    execution_options settings) {
    auto y = a.make_range_vector("y");
    settings.mode = a.recordable() ? execution_mode::automatic : execution_mode::eager;
    timed_loop loop(a.comm(), settings);
    const auto seconds = [&](std::int64_t count) {
        return loop.seconds(count, [&] {
            if (loop.run().ranks() > 1) put_ghosts(loop.run(), x);
            a.apply(loop.run(), alpha, x, beta, y);
        });
    };
    (void)seconds(warm_up_products);
    const std::int64_t all = whole_recordings(trips);
    return seconds(all) / static_cast<double>(all);
}

void check_numbers(const spmv_request& request) {
    if (request.repeat < 1)
        throw usage_error("--repeat is " + std::to_string(request.repeat) +
                          ": allowed are 1 and more");
    if (!std::isfinite(request.alpha) || !std::isfinite(request.beta))
        throw usage_error(fmt::format("--alpha is {}, --beta is {}: allowed are finite numbers",
                                      request.alpha, request.beta));
}

template <class T>
spmv_outcome run_spmv(const spmv_request& request) {
    operator_options multiply = request.multiply.options();
    multiply.transposed_products = request.transpose;
    const vector_source x_source = parse_vector_source("--x", request.x);
    const vector_source y_source = parse_vector_source("--y", request.y);
    check_numbers(request);
    const device_group group = select_devices(request.devices);

    spmv_outcome out;
    stopwatch watch;
    const csr_matrix<T> matrix =
        request.spd ? load_square<T>(request.matrix, true) : load_matrix<T>(request.matrix);
    out.load_seconds = watch.lap();
    const bool transposed = request.transpose;
    const std::vector<T> x_values =
        transposed ? make_values(x_source, matrix) : make_column_values("--x", x_source, matrix);
    const std::vector<T> y_values =
        transposed ? make_column_values("--y", y_source, matrix) : make_values(y_source, matrix);
    (void)watch.lap();
    const auto made = make_operator(group, matrix, multiply);
    const matrix_operator<T>* const a = transposed ? &made->transposed() : made.get();
    group.synchronize();
    out.setup_seconds = watch.lap();

    auto x = a->make_domain_vector("x");
    x.upload(x_values);
    const std::vector<T> result = multiply_once<T>(request, *a, x, y_values);
    compare_with_loop<T>(request, matrix, x_values, y_values, result, out);
    if (!request.output_file.empty())
        save_vector<T>(request.output_file, result, "product with " + request.matrix);
    out.seconds =
        time_product(*a, x, static_cast<T>(request.alpha), static_cast<T>(request.beta),
                     request.repeat, {.timeout_seconds = request.devices.timeout_seconds()});

    out.rows = matrix.rows;
    out.columns = matrix.columns;
    out.nnz = matrix.nnz();
    out.devices = descriptions(group);
    out.kind = group.kind();
    out.operator_name = to_string(a->kind());
    out.operator_because = why_operator(*made, multiply);
    if (made->choice() != nullptr) out.fractions = made->choice()->fractions;
    out.transport = to_string(a->transport());
    out.transport_because = why_transport(*a, multiply);
    out.format_name = a->format_name();
    out.narrow_fraction = a->narrow_fraction();
    out.reordered = made->reordered();
    out.recorded = a->recordable() && group.concurrent();
    out.bytes =
        traffic{a->rows(), matrix.nnz(), sizeof(T), a->columns()}.product(request.beta != 0);
    for (int rank = 0; rank < group.size(); ++rank) {
        out.received.push_back(a->received(rank));
        out.matrix_bytes.push_back(a->matrix_bytes(rank));
    }
    out.warnings = placement_warnings(*a->range_layout());
    return out;
}

std::string matrix_line(const spmv_request& request, const spmv_outcome& o) {
    const std::string columns = o.columns == o.rows ? "" : fmt::format("{} columns, ", o.columns);
    return named_line("matrix", fmt::format("{}{}{}: {} rows, {}{} nonzeros", request.matrix,
                                            request.spd ? " made spd" : "",
                                            request.transpose ? ", to be transposed" : "", o.rows,
                                            columns, o.nnz));
}

std::string difference_line(const spmv_outcome& o) {
    return named_line(
        "difference",
        fmt::format("{:.2e} at most, {:.2e} relative to |alpha| |A| |x| + |beta| |y|: {}",
                    o.largest_difference, o.relative_difference,
                    o.agrees ? "rounding" : "WRONG, more than rounding explains"));
}

template spmv_outcome run_spmv<double>(const spmv_request&);
template spmv_outcome run_spmv<float>(const spmv_request&);
template void compare_with_loop(const spmv_request&, const csr_matrix<double>&,
                                std::span<const double>, std::span<const double>,
                                std::span<const double>, spmv_outcome&);
template void compare_with_loop(const spmv_request&, const csr_matrix<float>&,
                                std::span<const float>, std::span<const float>,
                                std::span<const float>, spmv_outcome&);
template double time_product(const matrix_operator<double>&, vector<double>&, double, double,
                             std::int64_t, execution_options);
template double time_product(const matrix_operator<float>&, vector<float>&, float, float,
                             std::int64_t, execution_options);

} // namespace krylith::tool
