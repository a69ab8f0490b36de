#include <cstdint>
#include <vector>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/used_steps.hpp>

namespace krylith::aggregation {

template <class T>
void find_used(const distributed_csr<T>& a, const row_partition& aggregates, rank_parts<T>& parts) {
    const communicator& comm = a.comm();
    if (comm.ranks() == 1) return;
    const auto all = static_cast<std::int32_t>(aggregates.rows());
    const auto ends = by_rank(comm, [&](int rank) {
        const row_range own = aggregates.owned(rank);
        buffer<std::int32_t> found(comm.handle(rank), 2, memory_item);
        found.zero();
        visit_rows(
            comm[rank], a.block(rank).rows(), 1,
            used_step{{},
                      parts[as_size(rank)].aggregate.data() + a.columns_of(rank).first_owned(),
                      static_cast<std::int32_t>(own.begin),
                      static_cast<std::int32_t>(own.end),
                      all,
                      found.data()});
        return found;
    });
    for (const int rank : comm.local()) {
        const std::vector<std::int32_t> found = ends[as_size(rank)].download();
        parts[as_size(rank)].used =
            found[1] == 0 ? row_range{} : row_range{all - found[0], found[1]};
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void find_used(const distributed_csr<T>&, const row_partition&, rank_parts<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
