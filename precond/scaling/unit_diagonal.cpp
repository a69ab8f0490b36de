#include <krylith/precond/scaling/unit_diagonal.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/host_parts.hpp>

namespace krylith::host {

namespace {

/// Waking a team of threads takes longer than fewer rows than this.
constexpr std::int64_t rows_worth_a_team = 4096;

template <class T>
void roots_on_host(const device_csr_view<T>& a, std::int64_t first_owned, double* s,
                   detail::scaling_report* report, int threads) {
    std::uint64_t bad = 0;
    double largest = 0;
    double inverse = 0;
    double bound = 0;
    std::uint64_t any_positive = 0;
#pragma omp parallel for schedule(static) reduction(max                                            \
                                                    : bad, largest, inverse, bound, any_positive)  \
    num_threads(threads) if (a.rows > rows_worth_a_team)
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double diagonal = 0;
        double sum = 0;
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            const auto value = static_cast<double>(a.values[k]);
            sum += std::fabs(value);
            if (a.indices[k] == first_owned + i)
                diagonal += value;
            else if (value > 0)
                any_positive = 1;
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
    report->any_positive = std::max(report->any_positive, any_positive);
}

template <bool Mirrored, class T, class W>
void entries_on_host(const device_csr_view<T>& a, const double* s, std::int64_t first_owned,
                     double factor, W* to, const detail::mirror_sum& mirrored, int threads) {
    std::uint64_t all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all) num_threads(threads) if (a.rows > rows_worth_a_team)
    for (std::int64_t i = 0; i < a.rows; ++i) {
        const double own = factor * s[first_owned + i];
        detail::probe_pair probe{};
        if constexpr (Mirrored)
            probe = detail::probe_of(
                mirrored.columns.global(static_cast<std::int32_t>(first_owned + i)));
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
            to[k] = static_cast<W>(static_cast<double>(a.values[k]) * own * s[a.indices[k]]);
            if constexpr (Mirrored)
                all += static_cast<std::uint64_t>(detail::mirror_term(
                    probe, detail::probe_of(mirrored.columns.global(a.indices[k])),
                    mirrored.factor * static_cast<double>(to[k])));
        }
    }
    if constexpr (Mirrored) *mirrored.sum += all;
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
                   detail::scaling_report* report) {
    enqueue(on, [=](int threads) { roots_on_host(a, first_owned, s, report, threads); });
}

template <class T, class W>
void scale_entries(device& on, const device_csr_view<T>& a, const double* s,
                   std::int64_t first_owned, double factor, W* to,
                   const detail::mirror_sum& mirrored) {
    enqueue(on, [=](int threads) {
        if (mirrored.sum != nullptr)
            entries_on_host<true>(a, s, first_owned, factor, to, mirrored, threads);
        else
            entries_on_host<false>(a, s, first_owned, factor, to, mirrored, threads);
    });
}

template <class W>
void scale_rows(device& on, const device_csr_view<W>& a, const double* s, double factor,
                W* values) {
    in_ranges(on, a.rows, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
                values[k] = static_cast<W>(static_cast<double>(a.values[k]) * (factor * s[i]));
    });
}

template <class W>
void null_defect(device& on, const device_csr_view<W>& b, const W* v, std::uint64_t* sum) {
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
            all += detail::quantised_defect(signed_sum, size);
        }
        *sum += all;
    });
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct instances<inverse_roots<W>, scale_entries<W, W>, scale_rows<W>, null_defect<W>>;
#include <krylith/device/language/instantiate.inc>
template struct instances<scale_entries<double, float>>;

} // namespace krylith::host
