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
    std::vector<buffer<std::int32_t>> ends;
    for (const int rank : comm.local()) {
        const row_range own = aggregates.owned(rank);
        ends.emplace_back(comm.handle(rank), 2, memory_item);
        ends.back().zero();
        visit_rows(
            comm[rank], a.block(rank).rows(), 1,
            used_step{{},
                      parts[as_size(rank)].aggregate.data() + a.columns_of(rank).first_owned(),
                      static_cast<std::int32_t>(own.begin),
                      static_cast<std::int32_t>(own.end),
                      all,
                      ends.back().data()});
    }
    for (std::size_t r = 0; r < parts.size(); ++r) {
        const std::vector<std::int32_t> found = ends[r].download();
        parts[r].used = found[1] == 0 ? row_range{} : row_range{all - found[0], found[1]};
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void find_used(const distributed_csr<T>&, const row_partition&, rank_parts<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
