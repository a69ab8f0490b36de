#include <krylith/precond/amg/first_near_null.hpp>

#include <cstdint>
#include <utility>

#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/amg/unit_diagonal.hpp>
#include <krylith/precond/coarsening/scaling_tasks.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

/// The defect of a vector, given on the rows of each rank, as a near-null vector of B.
template <class W>
std::uint64_t defect_of(const distributed_csr<W>& b, const std::vector<buffer<W>>& v) {
    const device_group& group = b.group();
    const std::vector<buffer<W>> local = by_local_columns(b, v);
    std::vector<buffer<std::uint64_t>> sums;
    for (int rank = 0; rank < group.size(); ++rank) {
        sums.emplace_back(group.handle(rank), 1, precond_item);
        sums.back().zero();
        KRYLITH_ON(group[rank],
                   null_defect(group[rank], b.block(rank).view(),
                               local[static_cast<std::size_t>(rank)].data(), sums.back().data()));
    }
    std::uint64_t all = 0;
    for (const auto& sum : sums) all += sum.download().front();
    return all;
}

} // namespace

template <class W>
std::vector<buffer<W>> near_null_of(const distributed_csr<W>& b, const level_scaling& by) {
    const device_group& group = b.group();
    std::vector<buffer<W>> inverse;
    std::vector<buffer<W>> ones;
    for (int rank = 0; rank < group.size(); ++rank) {
        const std::int64_t rows = b.row_owners().owned(rank).size();
        for (auto* v : {&inverse, &ones})
            v->emplace_back(group.handle(rank), static_cast<std::size_t>(rows), precond_item);
        const double* const s = by.owned(b, rank);
        W* const one = ones.back().data();
        run_items(group[rank], divide_task<W>{1 / by.inverse, nullptr, s, inverse.back().data()},
                  rows);
        run_items(group[rank], round_task<W>{1, s, one}, rows);
        run_items(group[rank], divide_task<W>{1, one, s, one}, rows); // 1, but for a rounding
    }
    if (by.largest * by.inverse <= 1 + 1e-6) return inverse; // the diagonal is constant
    return 2 * defect_of(b, ones) < defect_of(b, inverse) ? std::move(ones) : std::move(inverse);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<buffer<T>> near_null_of(const distributed_csr<T>&, const level_scaling&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
