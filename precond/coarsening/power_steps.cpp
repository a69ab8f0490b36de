#include <krylith/precond/coarsening/power_steps.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/distributed/products/column_exchange.hpp>
#include <krylith/distributed/products/settled_on_failure.hpp>
#include <krylith/precond/coarsening/hashed_sign.hpp>

namespace krylith::detail {

namespace {

constexpr std::int64_t enough_rows = 4096; ///< for a team of threads

/// Enqueues `loop(threads)` on a host device.
template <class Loop>
void on_host(device& on, const Loop& loop) {
    auto& host = static_cast<host_device&>(on);
    host.submit([loop, threads = host.threads()] { loop(threads); });
}

} // namespace

template <class W>
void multiply_rows(device& on, const device_csr_view<W>& b, std::int64_t first_owned, const W* x,
                   W* y) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::multiply_rows(on, b, first_owned, x, y);
#endif
    on_host(on, [=](int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (b.rows > enough_rows)
        for (std::int64_t i = 0; i < b.rows; ++i) {
            double sum = 0;
            for (std::int64_t k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
                sum += static_cast<double>(b.values[k]) * static_cast<double>(x[b.indices[k]]);
            y[first_owned + i] = static_cast<W>(sum);
        }
    });
}

template <class W>
void hashed_signs(device& on, std::int64_t first, std::int64_t count, W* x) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::hashed_signs(on, first, count, x);
#endif
    on_host(on, [=](int) {
        for (std::int64_t i = 0; i < count; ++i) x[i] = hashed_sign<W>(first + i);
    });
}

template <class W>
void find_largest(device& on, std::int64_t count, const W* x, std::uint64_t* largest) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::find_largest(on, count, x, largest);
#endif
    on_host(on, [=](int) {
        double most = std::bit_cast<double>(*largest);
        for (std::int64_t i = 0; i < count; ++i)
            most = std::max(most, std::fabs(static_cast<double>(x[i])));
        *largest = std::bit_cast<std::uint64_t>(most);
    });
}

template <class W>
void scale_by(device& on, std::int64_t count, double factor, W* x) {
#if KRYLITH_HAVE_CUDA
    if (on.kind() == backend::cuda) return cuda::scale_by(on, count, factor, x);
#endif
    on_host(on, [=](int threads) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count > enough_rows)
        for (std::int64_t i = 0; i < count; ++i)
            x[i] = static_cast<W>(factor * static_cast<double>(x[i]));
    });
}

template <class W>
double power_estimate(const distributed_csr<W>& b, int k) {
    const device_group& group = b.group();
    const column_exchange exchange(group, b.all_columns());
    std::vector<buffer<W>> before;
    std::vector<buffer<W>> now;
    std::vector<buffer<std::uint64_t>> largest; // of B^(k - 1) x and B^k x
    for (int rank = 0; rank < group.size(); ++rank) {
        const local_columns& columns = b.columns_of(rank);
        const auto count = static_cast<std::size_t>(columns.count());
        before.emplace_back(group.handle(rank), count, "preconditioner");
        now.emplace_back(group.handle(rank), count, "preconditioner");
        largest.emplace_back(group.handle(rank), 2, "preconditioner");
        largest.back().zero();
        hashed_signs(group[rank], columns.owned().begin, columns.owned().size(),
                     before.back().data() + columns.first_owned());
    }
    const settled_on_failure settled(group);
    for (int step = 1; step <= k; ++step) {
        std::vector<W*> arrays;
        for (const auto& x : before) arrays.push_back(x.data());
        exchange.fill_in_turn(std::span<W* const>(arrays));
        for (int rank = 0; rank < group.size(); ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            const std::int64_t first = b.columns_of(rank).first_owned();
            multiply_rows(group[rank], b.block(rank).view(), first, before[at].data(),
                          now[at].data());
            if (step >= k - 1)
                find_largest(group[rank], b.block(rank).rows(), now[at].data() + first,
                             largest[at].data() + (step == k ? 1 : 0));
        }
        std::swap(before, now);
    }
    double last[2] = {0, 0};
    for (const auto& own : largest) {
        const std::vector<std::uint64_t> bits = own.download();
        for (int i = 0; i < 2; ++i)
            last[i] = std::max(last[i], std::bit_cast<double>(bits[static_cast<std::size_t>(i)]));
    }
    return last[0] > 0 ? last[1] / last[0] : 0;
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template double power_estimate(const distributed_csr<W>&, int);                                \
    template void multiply_rows(device&, const device_csr_view<W>&, std::int64_t, const W*, W*);   \
    template void hashed_signs(device&, std::int64_t, std::int64_t, W*);                           \
    template void find_largest(device&, std::int64_t, const W*, std::uint64_t*);                   \
    template void scale_by(device&, std::int64_t, double, W*);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
