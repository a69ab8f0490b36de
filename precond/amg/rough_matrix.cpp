#include <krylith/precond/amg/rough_matrix.hpp>

#include <bit>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rough_rows_step.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

template <class W>
bool is_rough(const distributed_csr<W>& b, double diagonal, double theta,
              const std::vector<buffer<W>>& near_null) {
    constexpr std::uint64_t most_asked = 65536;
    const std::vector<buffer<W>> v = by_local_columns(b, near_null);
    const auto one_in = static_cast<std::uint64_t>(b.rows()) / most_asked;
    const auto apart = static_cast<std::uint32_t>(std::bit_ceil(one_in + 1));
    std::vector<buffer<unsigned long long>> counts;
    for (int rank = 0; rank < b.group().size(); ++rank) {
        counts.emplace_back(b.group().handle(rank), 3, precond_item);
        counts.back().zero();
        const classical::sampled_rows sample{b.row_owners().owned(rank).begin, apart};
        visit_rows(b.group()[rank], sample.count(b.block(rank).rows()),
                   aggregation::mean_entries(b, rank),
                   classical::rough_rows_step<W>{
                       aggregation::rows_of(b, rank), b.block(rank).view().values,
                       v[static_cast<std::size_t>(rank)].data(), static_cast<W>(theta * diagonal),
                       sample, counts.back().data()});
    }
    unsigned long long rough = 0;
    unsigned long long positive = 0;
    unsigned long long asked = 0;
    for (const auto& of_rank : counts) {
        const auto numbers = of_rank.download();
        rough += numbers[0];
        positive += numbers[1];
        asked += numbers[2];
    }
    return 3 * rough > asked && 20 * positive < asked;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool is_rough(const distributed_csr<T>&, double, double,                              \
                           const std::vector<buffer<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
