#include <krylith/bench/common/workload.hpp>

#include <cmath>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

constexpr std::uint64_t rhs_seed = 20;

/// The sum over rows of value(row), with all threads.
template <class Value>
double sum_over_rows(std::int64_t rows, const Value& value) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < rows; ++i) {
        sum += value(i);
    }
    return sum;
}

template <class Use>
void for_entries(const csr_matrix<double>& a, std::int64_t row, const Use& use) {
    const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]);
    for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]); k < end;
         ++k) {
        use(static_cast<std::size_t>(a.column_indices[k]), a.values[k]);
    }
}

} // namespace

workload make_workload(const std::string& name, const workload_options& options) {
    workload w;
    w.name = name;
    w.spd = options.spd;
    const tool::stopwatch watch;
    if (options.single) {
        w.single = tool::load_square<float>(name, options.spd);
        w.matrix = {w.single.rows,
                    w.single.columns,
                    w.single.row_offsets,
                    w.single.column_indices,
                    {w.single.values.begin(), w.single.values.end()}};
    } else {
        w.matrix = tool::load_square<double>(name, options.spd);
    }
    w.seconds = watch.seconds();
    resize_in_parallel(w.b, static_cast<std::size_t>(w.n()));
    w.rhs_norm = std::sqrt(sum_over_rows(w.n(), [&](std::int64_t i) {
        double& entry = w.b[static_cast<std::size_t>(i)];
        entry = 2 * unit_interval(counter_hash(rhs_seed, static_cast<std::uint64_t>(i))) - 1;
        if (options.single) {
            entry = static_cast<float>(entry);
        }
        return entry * entry;
    }));
    return w;
}

double true_residual(const workload& w, std::span<const double> x) {
    return std::sqrt(sum_over_rows(w.n(), [&](std::int64_t i) {
        double r = w.b[static_cast<std::size_t>(i)];
        for_entries(w.matrix, i, [&](std::size_t j, double value) { r -= value * x[j]; });
        return r * r;
    }));
}

double residual_scale(const workload& w, std::span<const double> x) {
    return std::sqrt(sum_over_rows(w.n(), [&](std::int64_t i) {
        double s = std::fabs(w.b[static_cast<std::size_t>(i)]);
        for_entries(w.matrix, i, [&](std::size_t j, double v) { s += std::fabs(v * x[j]); });
        return s * s;
    }));
}

reference_product multiply_by_b(const workload& w) {
    reference_product result;
    resize_in_parallel(result.y, static_cast<std::size_t>(w.n()));
    resize_in_parallel(result.scale, static_cast<std::size_t>(w.n()));
    result.dot = sum_over_rows(w.n(), [&](std::int64_t row) {
        const auto i = static_cast<std::size_t>(row);
        long double sum = 0; // a serial sum of doubles would lose more than kernels do
        double magnitude = 0;
        for_entries(w.matrix, row, [&](std::size_t j, double value) {
            sum += static_cast<long double>(value) * w.b[j];
            magnitude += std::fabs(value * w.b[j]);
        });
        result.y[i] = static_cast<double>(sum);
        result.scale[i] = magnitude;
        return result.y[i] * w.b[i];
    });
    return result;
}

double largest_error(const reference_product& expected, std::span<const double> y) {
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::fabs(y[i] - expected.y[i]);
        if (std::isnan(error)) {
            return error;
        }
        if (error > largest * expected.scale[i]) {
            largest = error / expected.scale[i];
        }
    }
    return largest;
}

} // namespace krylith::bench
