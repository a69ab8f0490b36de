#include <krylith/precond/diagonal/diagonal_inverse.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/device/host/host_device.hpp>

namespace krylith::host {

namespace {

/// Waking a team of threads takes longer than inverting fewer entries than this.
constexpr std::int64_t entries_worth_a_team = 32768;

template <class T>
void invert_on_host(T* d, std::int64_t count, inversion_report* report, int threads) {
    std::uint64_t bad = 0;
    T largest = 0;
#pragma omp parallel for schedule(static) reduction(max                                            \
                                                    : bad, largest)                                \
    num_threads(threads) if (count > entries_worth_a_team)
    for (std::int64_t i = 0; i < count; ++i) {
        const T inverse = T(1) / d[i];
        if (std::isfinite(d[i]) && std::isfinite(inverse)) {
            d[i] = inverse;
            largest = std::max(largest, std::fabs(inverse));
        } else {
            bad = std::max(bad, ~static_cast<std::uint64_t>(i));
        }
    }
    report->bad = bad;
    report->exponent =
        largest > T(0)
            ? static_cast<std::uint64_t>(std::ilogb(largest) + inversion_report::exponent_bias)
            : 0;
}

} // namespace

template <class T>
void invert_diagonal(device& device, T* d, std::int64_t count, inversion_report* report) {
    auto& host = static_cast<host_device&>(device);
    host.submit([=, threads = host.threads()] { invert_on_host(d, count, report, threads); });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void invert_diagonal(device&, T*, std::int64_t, inversion_report*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
