#include <krylith/precond/amg/rounded_level.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>
#include <krylith/precond/coarsening/rounding_steps.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>
#include <krylith/sparse/sell/narrow_worth.hpp>

namespace krylith::detail {

template <class W>
bool worth_rounding(const distributed_csr<W>& b) {
    if (!narrow_pays(sizeof(W), b.rows(), b.nonzeros())) return false;
    constexpr std::int64_t enough_rows = 65536;
    const auto stride = static_cast<std::uint32_t>(b.rows() / enough_rows + 1);
    const aggregation::rank_numbers<unsigned> flags(b.comm(), aggregation::value_flags,
                                                    "preconditioner");
    for (const int rank : b.comm().local()) {
        const device_csr_view<W> view = b.block(rank).view();
        visit_rows(b.comm()[rank], view.rows, aggregation::mean_entries(b, rank),
                   aggregation::flag_values_step{view.offsets, view.values,
                                                 b.row_owners().owned(rank).begin, stride,
                                                 flags.of(rank)});
    }
    std::vector<unsigned> raised(aggregation::value_flags, 0);
    for (const std::vector<unsigned>& own : flags.of_all())
        for (std::size_t i = 0; i < aggregation::value_flags; ++i) raised[i] |= own[i];
    return std::ranges::count(raised, 1u) >= table_size;
}

template <class W>
void round_off_diagonal(distributed_csr<W>& b, const std::vector<buffer<W>>& v) {
    static_assert(std::is_same_v<W, float>, "numbers of 16 bits are half as wide as float");
    const std::vector<buffer<W>> local = by_local_columns(b, v);
    for (const int rank : b.comm().local()) {
        const device_csr_view<W> view = b.block(rank).view();
        visit_rows(b.comm()[rank], view.rows, aggregation::mean_entries(b, rank),
                   aggregation::rounding_step{aggregation::rows_of(b, rank), b.block(rank).values(),
                                              local[static_cast<std::size_t>(rank)].data()});
    }
}

template bool worth_rounding(const distributed_csr<float>&);
template void round_off_diagonal(distributed_csr<float>&, const std::vector<buffer<float>>&);

} // namespace krylith::detail
