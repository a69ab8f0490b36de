#include <krylith/precond/amg/unit_diagonal.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>

namespace krylith::detail {

namespace {

/// Waking a team of threads takes longer than fewer rows than this.
constexpr std::int64_t rows_worth_a_team = 4096;

template <class T>
void roots_on_host(const device_csr_view<T>& a, std::int64_t first_owned, double* s,
                   scaling_report* report, int threads) {
    std::uint64_t bad = 0;
    double largest = 0;
    double inverse = 0;
    double bound = 0;
#pragma omp parallel for schedule(static) reduction(max                                            \
                                                    : bad, largest, inverse, bound)                \
    num_threads(threads) if (a.rows > rows_worth_a_team)
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double diagonal = 0;
        double sum = 0;
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const auto value = static_cast<double>(a.values[k]);
            sum += std::fabs(value);
            if (a.indices[k] == first_owned + i) diagonal += value;
        }
        const double root = std::sqrt(diagonal);
        s[i] = 1 / root;
        if (!(diagonal > 0) || !std::isfinite(root) || !std::isfinite(s[i]) ||
            !std::isfinite(sum)) {
            bad = std::max(bad, ~static_cast<std::uint64_t>(i));
            continue;
        }
        largest = std::max(largest, s[i]);
        inverse = std::max(inverse, root);
        bound = std::max(bound, sum / diagonal);
    }
    report->bad = std::max(report->bad, bad);
    report->largest = std::max(report->largest, std::bit_cast<std::uint64_t>(largest));
    report->inverse = std::max(report->inverse, std::bit_cast<std::uint64_t>(inverse));
    report->bound = std::max(report->bound, std::bit_cast<std::uint64_t>(bound));
}

template <bool Mirrored, class T, class W>
void entries_on_host(const device_csr_view<T>& a, const double* s, std::int64_t first_owned,
                     double factor, W* to, const mirror_sum& mirrored, int threads) {
    std::uint64_t all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all) num_threads(threads) if (a.rows > rows_worth_a_team)
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const double own = factor * s[first_owned + i];
        probe_pair probe{};
        if constexpr (Mirrored)
            probe = probe_of(mirrored.columns.global(static_cast<std::int32_t>(first_owned + i)));
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            to[k] = static_cast<W>(static_cast<double>(a.values[k]) * own * s[a.indices[k]]);
            if constexpr (Mirrored)
                all += static_cast<std::uint64_t>(
                    mirror_term(probe, probe_of(mirrored.columns.global(a.indices[k])),
                                mirrored.factor * static_cast<double>(to[k])));
        }
    }
    if constexpr (Mirrored) *mirrored.sum += all;
}

template <class W, bool Columns>
void one_side_on_host(const device_csr_view<W>& a, const double* s, double factor, W* values,
                      int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (a.rows > rows_worth_a_team)
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            values[k] = static_cast<W>(static_cast<double>(a.values[k]) *
                                       (factor * s[Columns ? a.indices[k] : i]));
}

/// Enqueues `loop(threads)` on a host device.
template <class Loop>
void enqueue(device& on, const Loop& loop) {
    auto& host = static_cast<host_device&>(on);
    host.submit([loop, threads = host.threads()] { loop(threads); });
}

} // namespace

template <class T>
void inverse_roots(device& on, const device_csr_view<T>& a, std::int64_t first_owned, double* s,
                   scaling_report* report) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::inverse_roots(on, a, first_owned, s, report);
#endif
    enqueue(on, [=](int threads) { roots_on_host(a, first_owned, s, report, threads); });
}

template <class T, class W>
void scale_entries(device& on, const device_csr_view<T>& a, const double* s,
                   std::int64_t first_owned, double factor, W* to, const mirror_sum& mirrored) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda)
        return cuda::scale_entries(on, a, s, first_owned, factor, to, mirrored);
#endif
    enqueue(on, [=](int threads) {
        if (mirrored.sum != nullptr)
            entries_on_host<true>(a, s, first_owned, factor, to, mirrored, threads);
        else
            entries_on_host<false>(a, s, first_owned, factor, to, mirrored, threads);
    });
}

template <class W>
void scale_columns(device& on, const device_csr_view<W>& a, const double* s, W* values) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::scale_columns(on, a, s, values);
#endif
    enqueue(on, [=](int threads) { one_side_on_host<W, true>(a, s, 1.0, values, threads); });
}

template <class W>
void scale_rows(device& on, const device_csr_view<W>& a, const double* s, double factor,
                W* values) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::scale_rows(on, a, s, factor, values);
#endif
    enqueue(on, [=](int threads) { one_side_on_host<W, false>(a, s, factor, values, threads); });
}

template <class W>
void divide_by_scale(device& on, std::int64_t count, double factor, const W* v, const double* s,
                     W* to) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::divide_by_scale(on, count, factor, v, s, to);
#endif
    enqueue(on, [=](int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count > rows_worth_a_team)
        for (std::int64_t i = 0; i < count; ++i)
            to[i] =
                static_cast<W>(factor * (v == nullptr ? 1.0 : static_cast<double>(v[i])) / s[i]);
    });
}

template <class W>
void round_scale(device& on, std::int64_t count, double factor, const double* s, W* to,
                 int columns) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::round_scale(on, count, factor, s, to, columns);
#endif
    enqueue(on, [=](int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count > rows_worth_a_team)
        for (std::int64_t i = 0; i < count; ++i)
            std::fill_n(to + i * columns, columns, static_cast<W>(factor * s[i]));
    });
}

template <class W>
void null_defect(device& on, const device_csr_view<W>& b, const W* v, std::uint64_t* sum) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::null_defect(on, b, v, sum);
#endif
    enqueue(on, [=](int threads) {
        std::uint64_t all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all) num_threads(threads) if (b.rows > rows_worth_a_team)
        for (std::int64_t i = 0; i < b.rows; ++i) {
            double signed_sum = 0;
            double size = 0;
            for (std::int64_t k = b.offsets[i]; k < b.offsets[i + 1]; ++k) {
                const double term =
                    static_cast<double>(b.values[k]) * static_cast<double>(v[b.indices[k]]);
                signed_sum += term;
                size += std::fabs(term);
            }
            all += quantised_defect(signed_sum, size);
        }
        *sum += all;
    });
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template void inverse_roots(device&, const device_csr_view<W>&, std::int64_t, double*,         \
                                scaling_report*);                                                  \
    template void scale_entries(device&, const device_csr_view<W>&, const double*, std::int64_t,   \
                                double, W*, const mirror_sum&);                                    \
    template void scale_columns(device&, const device_csr_view<W>&, const double*, W*);            \
    template void scale_rows(device&, const device_csr_view<W>&, const double*, double, W*);       \
    template void divide_by_scale(device&, std::int64_t, double, const W*, const double*, W*);     \
    template void round_scale(device&, std::int64_t, double, const double*, W*, int);              \
    template void null_defect(device&, const device_csr_view<W>&, const W*, std::uint64_t*);

#include <krylith/device/language/instantiate.inc>
template void scale_entries(device&, const device_csr_view<double>&, const double*, std::int64_t,
                            double, float*, const mirror_sum&);

} // namespace krylith::detail
