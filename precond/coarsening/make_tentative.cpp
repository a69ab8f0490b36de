#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>

namespace krylith::aggregation {

template <class T>
std::vector<buffer<T>> make_tentative(const distributed_csr<T>& a, const exchange& ghosts,
                                      rank_parts<T>& parts, const row_partition& aggregates,
                                      std::span<const T* const> near_null) {
    const communicator& comm = a.comm();
    const auto window = [&](int rank) {
        return window_of(aggregates.owned(rank), parts[as_size(rank)].used);
    };
    const auto zeros = [&](int rank) {
        aggregate_array<wide> array(comm.handle(rank), window(rank), 1, memory_item);
        array.zero();
        return array;
    };
    const auto largest = by_rank(comm, zeros);
    const auto squares = by_rank(comm, zeros);
    auto tentative = by_rank(comm, [&](int rank) {
        return buffer<T>(comm.handle(rank), as_size(a.columns_of(rank).count()), memory_item);
    });
    const std::vector<T*> norms = by_rank(comm, [&](int rank) {
        parts[as_size(rank)].make_coarse(comm.handle(rank), window(rank), 1);
        return parts[as_size(rank)].coarse.data();
    });
    const auto aggregate_of = [&](std::size_t r) {
        return parts[r].aggregate.data() + a.columns_of(static_cast<int>(r)).first_owned();
    };
    const auto visit_all = [&](const auto& make) {
        for (const int rank : comm.local())
            visit_rows(comm[rank], a.block(rank).rows(), 1, make(as_size(rank)));
    };

    visit_all([&](std::size_t r) {
        return magnitude_step<T>{{}, aggregate_of(r), near_null[r], largest[r].data()};
    });
    const exchange of_aggregates = exchange_of_aggregates(comm, aggregates, parts);
    of_aggregates.join<join_largest_step>(pointers_of(largest));
    of_aggregates.fetch(pointers_of(largest));

    visit_all([&](std::size_t r) {
        return square_step<T>{
            {}, aggregate_of(r), near_null[r], largest[r].data(), squares[r].data()};
    });
    of_aggregates.join<join_sum_step>(pointers_of(squares));

    for (const int rank : comm.local()) {
        const row_range own = aggregates.owned(rank);
        const std::size_t r = as_size(rank);
        visit_rows(comm[rank], own.size(), 1,
                   norm_step<T>{{},
                                largest[r].data() + own.begin,
                                squares[r].data() + own.begin,
                                norms[r] + own.begin});
    }
    of_aggregates.fetch(norms);
    visit_all([&](std::size_t r) {
        return tentative_step<T>{{},
                                 aggregate_of(r),
                                 near_null[r],
                                 norms[r],
                                 tentative[r].data() +
                                     a.columns_of(static_cast<int>(r)).first_owned()};
    });
    ghosts.fetch(tentative);
    return tentative;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<buffer<T>> make_tentative(const distributed_csr<T>&, const exchange&,     \
                                                   rank_parts<T>&, const row_partition&,           \
                                                   std::span<const T* const>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
