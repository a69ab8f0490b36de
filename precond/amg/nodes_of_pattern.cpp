#include <krylith/precond/amg/nodes_of_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/partition/nodes/block_size.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>

namespace krylith::detail {

namespace {

/// Neighbouring rows, in host memory, with global columns.
struct rows_to_look_at {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
};

/// The first of [first, first + rows) that are enough to look at, of the rows of a rank.
template <class T>
rows_to_look_at take_rows(const distributed_csr<T>& a, int rank, std::int64_t first,
                          std::int64_t rows) {
    device& on = a.comm()[rank];
    const auto view = a.block(rank).view();
    rows_to_look_at taken;
    taken.offsets.resize(static_cast<std::size_t>(rows + 1));
    on.download(taken.offsets.data(), view.offsets + (first - a.row_owners().owned(rank).begin),
                taken.offsets.size() * sizeof(std::int64_t));
    taken.offsets.resize(static_cast<std::size_t>(block_size_search::enough(taken.offsets) + 1));
    taken.columns.resize(static_cast<std::size_t>(taken.offsets.back() - taken.offsets.front()));
    if (!taken.columns.empty())
        on.download(taken.columns.data(), view.indices + taken.offsets.front(),
                    taken.columns.size() * sizeof(std::int32_t));
    for (std::int32_t& column : taken.columns)
        column = static_cast<std::int32_t>(a.columns_of(rank).global(column));
    return taken;
}

/// Collective: all drivers look at the rows of all ranks.
template <class T>
int block_size_of(const distributed_csr<T>& a) {
    block_size_search search(a.rows());
    const auto p = static_cast<std::size_t>(a.comm().ranks());
    for (const row_range& window : search.windows()) {
        std::vector<std::vector<std::int64_t>> offsets(p);
        std::vector<std::vector<std::int32_t>> columns(p);
        const auto first_of = [&](std::size_t rank) {
            return std::max(a.row_owners().begin[rank], window.begin);
        };
        for (const int rank : a.comm().local()) {
            const auto r = static_cast<std::size_t>(rank);
            const std::int64_t rows =
                std::min(a.row_owners().owned(rank).end, window.end) - first_of(r);
            if (rows <= 0) continue;
            rows_to_look_at taken = take_rows(a, rank, first_of(r), rows);
            offsets[r] = std::move(taken.offsets);
            columns[r] = std::move(taken.columns);
        }
        a.comm().all_gather_lists(offsets);
        a.comm().all_gather_lists(columns);
        for (std::size_t r = 0; r < p; ++r)
            if (!offsets[r].empty()) search.look_at(first_of(r), offsets[r], columns[r]);
        if (search.excludes_nodes()) break;
    }
    return search.block_size();
}

} // namespace

template <class T>
int symmetric_block_size(const distributed_csr<T>& a, const layout& rows) {
    const int found = block_size_of(a);
    if (found == 1) return 1;
    mirror_sums mirrored;
    (void)scaled<T>(a, scaling_of(a, {"amg", 0, &rows}), &mirrored);
    return mirrored.differ(a.nonzeros()) ? 1 : found;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template int symmetric_block_size(const distributed_csr<T>&, const layout&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
