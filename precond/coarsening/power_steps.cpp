#include <krylith/precond/coarsening/power_steps.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/host_parts.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>

namespace krylith::host {

template <class W>
void multiply_rows(device& on, const device_csr_view<W>& b, std::int64_t first_owned, const W* x,
                   W* y) {
    in_ranges(on, b.rows, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            double sum = 0;
            for (std::int64_t k = b.offsets[i]; k < b.offsets[i + 1]; ++k)
                sum += static_cast<double>(b.values[k]) * static_cast<double>(x[b.indices[k]]);
            y[first_owned + i] = static_cast<W>(sum);
        }
    });
}

template <class W>
void find_largest(device& on, std::int64_t count, const W* x, std::uint64_t* largest) {
    static_cast<host_device&>(on).submit([=] {
        double most = std::bit_cast<double>(*largest);
        for (std::int64_t i = 0; i < count; ++i)
            most = std::max(most, std::fabs(static_cast<double>(x[i])));
        *largest = std::bit_cast<std::uint64_t>(most);
    });
}

#define KRYLITH_INSTANTIATE(W) template struct instances<multiply_rows<W>, find_largest<W>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host

namespace krylith::detail {

template <class W>
double power_estimate(const distributed_csr<W>& b, int k) {
    const communicator& comm = b.comm();
    const exchange ghosts = exchange_of_ghosts(b);
    const auto array = [&](int rank) {
        return buffer<W>(comm.handle(rank), static_cast<std::size_t>(b.columns_of(rank).count()),
                         "preconditioner");
    };
    auto before = by_rank(comm, array);
    auto now = by_rank(comm, array);
    const aggregation::rank_numbers<std::uint64_t> largest(comm, 2, "preconditioner");
    for (const int rank : comm.local()) {
        const local_columns& columns = b.columns_of(rank);
        W* const x = before[static_cast<std::size_t>(rank)].data();
        run_items(comm[rank], sign_task<W>{columns.owned().begin, x + columns.first_owned()},
                  columns.owned().size());
    }
    const settled_on_failure settled(comm);
    for (int step = 1; step <= k; ++step) {
        ghosts.fetch_in_turn(pointers_of(before));
        for (const int rank : comm.local()) {
            const auto at = static_cast<std::size_t>(rank);
            const std::int64_t first = b.columns_of(rank).first_owned();
            KRYLITH_ON(comm[rank], multiply_rows(comm[rank], b.block(rank).view(), first,
                                                 before[at].data(), now[at].data()));
            if (step >= k - 1)
                KRYLITH_ON(comm[rank],
                           find_largest(comm[rank], b.block(rank).rows(), now[at].data() + first,
                                        largest.of(rank) + (step == k ? 1 : 0)));
        }
        std::swap(before, now);
    }
    double last[2] = {0, 0}; // of B^(k - 1) x and B^k x
    for (const std::vector<std::uint64_t>& bits : largest.of_all())
        for (std::size_t i = 0; i < 2; ++i)
            last[i] = std::max(last[i], std::bit_cast<double>(bits[i]));
    return last[0] > 0 ? last[1] / last[0] : 0;
}

#define KRYLITH_INSTANTIATE(W) template double power_estimate(const distributed_csr<W>&, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
