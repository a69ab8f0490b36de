#include <krylith/precond/amg/scaled_level.hpp>

#include <algorithm>
#include <vector>

#include <krylith/device/language/instances.hpp>
#include <krylith/precond/coarsening/power_steps.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>

namespace krylith::detail {

template <class W>
void sharpen(distributed_csr<W>& b, diagonal_scaling& by, double least_bound) {
    constexpr int steps = 12;
    constexpr double spare = 1.1;
    by.sharp = true;
    const double estimate = std::max(spare * power_estimate(b, steps), least_bound / by.bound);
    if (!(estimate > 0 && estimate < 1)) return;
    for (const int rank : b.comm().local())
        run_items(b.comm()[rank], scale_task<W>{1 / estimate, b.block(rank).values()},
                  b.block(rank).nonzeros());
    by.bound *= estimate;
}

template <class W>
diagonal_scaling scale_coarse(distributed_csr<W>& a, std::size_t level, double least_bound) {
    diagonal_scaling by = scaling_of(a, {"amg", level});
    scale(a, by, a);
    sharpen(a, by, least_bound);
    return by;
}

template <class W>
void scale_transfers(double rho, std::span<const double* const> s, distributed_csr<W>& prolongation,
                     distributed_csr<W>& restriction) {
    const communicator& comm = prolongation.comm();
    const auto columns = by_rank(comm, [&](int rank) { // S by local columns of P
        const local_columns& local = prolongation.columns_of(rank);
        const double* const own = s[static_cast<std::size_t>(rank)];
        buffer<double> all(comm.handle(rank), static_cast<std::size_t>(local.count()),
                           precond_item);
        const auto owned = static_cast<std::size_t>(local.owned().size());
        if (owned != 0)
            comm[rank].copy(all.data() + local.first_owned(), own, owned * sizeof(double));
        device_csr<W>& r = restriction.block(rank);
        KRYLITH_ON(comm[rank], scale_rows(comm[rank], r.view(), own, 1 / rho, r.values()));
        return all;
    });
    exchange_of_ghosts(prolongation).fetch(columns);
    for (const int rank : comm.local()) {
        device_csr<W>& p = prolongation.block(rank);
        run_items(comm[rank],
                  scale_column_task<W>{p.view().indices,
                                       columns[static_cast<std::size_t>(rank)].data(), p.values()},
                  p.nonzeros());
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<sharpen<T>, scale_coarse<T>, scale_transfers<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
