#include <krylith/precond/amg/lost_entries.hpp>

#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/sparsify_steps.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

template <class W>
bool loses_soft_entries(const distributed_csr<W>& b, const std::vector<buffer<W>>& near_null,
                        double largest_quotient) {
    constexpr std::int64_t one_in = 500;
    using step = aggregation::lost_entries_step<W>;
    // b_ij is both only where (v_i / v_j)^2 exceeds large / lost.
    if (largest_quotient * largest_quotient * step::lost < step::large) return false;
    const std::vector<buffer<W>> v = by_local_columns(b, near_null);
    const aggregation::rank_numbers<unsigned long long> counts(b.comm(), step::counters,
                                                               precond_item);
    for (const int rank : b.comm().local())
        visit_rows(b.comm()[rank], b.block(rank).rows(), aggregation::mean_entries(b, rank),
                   step{aggregation::rows_of(b, rank), b.block(rank).view().values,
                        v[static_cast<std::size_t>(rank)].data(), counts.of(rank)});
    unsigned long long rows = 0;
    for (const auto& of_rank : counts.of_all())
        for (const unsigned long long one : of_rank) rows += one;
    return static_cast<std::int64_t>(rows) * one_in > b.rows();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool loses_soft_entries(const distributed_csr<T>&, const std::vector<buffer<T>>&,     \
                                     double);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
