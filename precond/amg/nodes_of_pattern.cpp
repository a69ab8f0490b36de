#include <krylith/precond/amg/nodes_of_pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/partition/nodes/block_size.hpp>
#include <krylith/precond/scaling/diagonal_scaling.hpp>

namespace krylith::detail {

namespace {

template <class T>
int block_size_of(const distributed_csr<T>& a) {
    block_size_search search(a.rows());
    for (const row_range& window : search.windows())
        for (const int rank : a.comm().local()) {
            const row_range own = a.row_owners().owned(rank);
            const std::int64_t first = std::max(own.begin, window.begin);
            const std::int64_t rows = std::min(own.end, window.end) - first;
            if (rows <= 0) continue;
            device& on = a.comm()[rank];
            const auto view = a.block(rank).view();
            std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows + 1));
            on.download(offsets.data(), view.offsets + (first - own.begin),
                        offsets.size() * sizeof(std::int64_t));
            offsets.resize(static_cast<std::size_t>(search.enough(offsets) + 1));
            std::vector<std::int32_t> columns(
                static_cast<std::size_t>(offsets.back() - offsets.front()));
            if (!columns.empty())
                on.download(columns.data(), view.indices + offsets.front(),
                            columns.size() * sizeof(std::int32_t));
            for (std::int32_t& column : columns)
                column = static_cast<std::int32_t>(a.columns_of(rank).global(column));
            search.look_at(first, offsets, columns);
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
