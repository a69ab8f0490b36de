#include <krylith/precond/incomplete/principal_submatrix.hpp>

#include <algorithm>
#include <iterator>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith::incomplete {

namespace {

template <class T>
std::span<const std::int32_t> columns_of(const csr_view<T>& a, std::int64_t row) {
    const std::size_t begin = as_size(a.row_offsets[as_size(row)]);
    return a.column_indices.subspan(begin, as_size(a.row_offsets[as_size(row) + 1]) - begin);
}

} // namespace

template <class T>
std::vector<std::int32_t> rows_around(const csr_view<T>& a, row_range owned, int rings) {
    std::vector<std::int32_t> around;
    std::vector<std::int32_t> ring; // the rows whose columns are looked at
    for (std::int64_t row = owned.begin; row < owned.end && rings > 0; ++row)
        ring.push_back(static_cast<std::int32_t>(row));
    for (int step = 0; step < rings && !ring.empty(); ++step) {
        std::vector<std::int32_t> next;
        for (const std::int32_t row : ring)
            for (const std::int32_t column : columns_of(a, row))
                if (!owned.contains(column)) next.push_back(column);
        std::ranges::sort(next);
        next.erase(std::unique(next.begin(), next.end()), next.end());
        ring.clear();
        std::ranges::set_difference(next, around, std::back_inserter(ring));
        std::vector<std::int32_t> all;
        std::ranges::merge(around, ring, std::back_inserter(all));
        around = std::move(all);
    }
    return around;
}

template <class T>
csr_matrix<T> principal_submatrix(const csr_view<T>& a, const local_indices& rows) {
    csr_matrix<T> block;
    block.rows = block.columns = rows.count();
    block.row_offsets.assign(1, 0);
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        const std::int64_t row = rows.global(i);
        std::size_t k = as_size(a.row_offsets[as_size(row)]);
        for (const std::int32_t column : columns_of(a, row)) {
            if (const std::int64_t local = rows.local(column); local >= 0) {
                block.column_indices.push_back(static_cast<std::int32_t>(local));
                block.values.push_back(a.values[k]);
            }
            ++k;
        }
        block.row_offsets.push_back(static_cast<std::int64_t>(block.values.size()));
    }
    return block;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<std::int32_t> rows_around(const csr_view<T>&, row_range, int);            \
    template csr_matrix<T> principal_submatrix(const csr_view<T>&, const local_indices&);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::incomplete
