#include <krylith/matrix/market/row_order.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {

template <class T>
bool in_row_order(const coo_matrix<T>& coo) {
    constexpr std::int64_t stretch = 1 << 16; // entries between looks at what other threads found
    const auto& row = coo.row_indices;
    const auto& column = coo.column_indices;
    const std::int64_t entries = coo.entries();
    std::atomic<bool> ordered = true;
#pragma omp parallel for schedule(static) if (entries > stretch)
    for (std::int64_t begin = 0; begin < entries; begin += stretch) {
        const auto end = as_size(ordered ? std::min(entries, begin + stretch) : 0);
        for (auto k = as_size(std::max<std::int64_t>(begin, 1)); k < end; ++k) {
            if (row[k - 1] > row[k] || (row[k - 1] == row[k] && column[k - 1] >= column[k])) {
                ordered = false;
                break;
            }
        }
    }
    return ordered;
}

template <class T>
csr_matrix<T> from_row_order(coo_matrix<T>&& coo) {
    csr_matrix<T> csr;
    csr.rows = coo.rows;
    csr.columns = coo.columns;
    csr.row_offsets.clear();
    resize_in_parallel(csr.row_offsets, as_size(coo.rows) + 1);
    const auto& row = coo.row_indices;
    const std::int64_t entries = coo.entries();
    // Entry k begins the rows behind that of entry k - 1, up to its own. The rest of the rows, and
    // the end of the last one, come behind the last entry.
#pragma omp parallel for schedule(static) if (entries > 1 << 16)
    for (std::int64_t k = 0; k <= entries; ++k) {
        const std::int64_t first = k == 0 ? 0 : row[as_size(k - 1)] + std::int64_t{1};
        const std::int64_t last = k == entries ? coo.rows : row[as_size(k)];
        for (std::int64_t i = first; i <= last; ++i) {
            csr.row_offsets[as_size(i)] = k;
        }
    }
    csr.column_indices = std::move(coo.column_indices);
    csr.values = std::move(coo.values);
    return csr;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool in_row_order(const coo_matrix<T>&);                                              \
    template csr_matrix<T> from_row_order(coo_matrix<T>&&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::market
