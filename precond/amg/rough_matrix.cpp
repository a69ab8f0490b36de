#include <krylith/precond/amg/rough_matrix.hpp>

#include <array>
#include <bit>
#include <cstdint>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/rough_rows_step.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

template <class W>
bool is_rough(const distributed_csr<W>& b, double diagonal, double theta,
              const std::vector<buffer<W>>& near_null) {
    using step = classical::rough_rows_step<W>;
    constexpr std::uint64_t most_asked = 65536;
    const std::vector<buffer<W>> v = by_local_columns(b, near_null);
    const auto one_in = static_cast<std::uint64_t>(b.rows()) / most_asked;
    const auto apart = static_cast<std::uint32_t>(std::bit_ceil(one_in + 1));
    const aggregation::rank_numbers<unsigned long long> counts(b.comm(), step::kinds, precond_item);
    for (const int rank : b.comm().local()) {
        const classical::sampled_rows sample{b.row_owners().owned(rank).begin, apart};
        visit_rows(b.comm()[rank], sample.count(b.block(rank).rows()),
                   aggregation::mean_entries(b, rank),
                   step{aggregation::rows_of(b, rank), b.block(rank).view().values,
                        v[static_cast<std::size_t>(rank)].data(), static_cast<W>(theta * diagonal),
                        sample, counts.of(rank)});
    }
    std::array<unsigned long long, step::kinds> all{};
    for (const auto& numbers : counts.of_all())
        for (std::size_t k = 0; k < all.size(); ++k) all[k] += numbers[k];
    const auto& [rough, positive, asked, jumping, differing] = all;
    const bool jumps_everywhere = 5 * jumping > 4 * asked && 5 * differing > asked;
    return (3 * rough > asked || jumps_everywhere) && 20 * positive < asked;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool is_rough(const distributed_csr<T>&, double, double,                              \
                           const std::vector<buffer<T>>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
