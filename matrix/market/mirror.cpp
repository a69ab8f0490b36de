#include <krylith/matrix/market/mirror.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {
namespace {

/// An empty matrix with room for both halves, and its row offsets.
template <class T>
csr_matrix<T> room_for_both(const csr_matrix<T>& half) {
    csr_matrix<T> both;
    both.rows = half.rows;
    both.columns = half.columns;
    both.row_offsets.assign(as_size(half.rows) + 1, 0);
    auto& offsets = both.row_offsets;
    for (std::int64_t row = 0; row < half.rows; ++row) {
        const std::int64_t begin = half.row_offsets[as_size(row)];
        const std::int64_t end = half.row_offsets[as_size(row + 1)];
        offsets[as_size(row + 1)] += end - begin;
        for (std::int64_t k = begin; k < end; ++k) {
            const std::int64_t column = half.column_indices[as_size(k)];
            offsets[as_size(column + 1)] += column != row;
        }
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    resize_in_parallel(both.column_indices, as_size(offsets.back()));
    resize_in_parallel(both.values, as_size(offsets.back()));
    return both;
}

/// Copies row by row: each entry goes to its own row and, mirrored, to that of its column. Mirrored
/// entries thus arrive in ascending order, after a lower half's own and before an upper half's.
template <class T>
void fill(const csr_matrix<T>& half, T sign, csr_matrix<T>& both) {
    std::vector<std::int64_t> next(both.row_offsets.begin(), both.row_offsets.end() - 1);
    const auto put = [&](std::int64_t row, std::int64_t column, T value) {
        const std::size_t k = as_size(next[as_size(row)]++);
        both.column_indices[k] = static_cast<std::int32_t>(column);
        both.values[k] = value;
    };
    for (std::int64_t row = 0; row < half.rows; ++row) {
        for (std::int64_t k = half.row_offsets[as_size(row)];
             k < half.row_offsets[as_size(row + 1)]; ++k) {
            const std::int64_t column = half.column_indices[as_size(k)];
            const T value = half.values[as_size(k)];
            put(row, column, value);
            if (column != row) {
                put(column, row, sign * value);
            }
        }
    }
}

/// Sorts the rows of a half with entries on both sides, and finds a column that stands twice.
template <class T>
std::optional<place> sort_rows(csr_matrix<T>& both) {
    std::vector<std::pair<std::int32_t, T>> entries;
    for (std::int64_t row = 0; row < both.rows; ++row) {
        const auto begin = as_size(both.row_offsets[as_size(row)]);
        const auto end = as_size(both.row_offsets[as_size(row + 1)]);
        entries.clear();
        for (std::size_t k = begin; k < end; ++k) {
            entries.emplace_back(both.column_indices[k], both.values[k]);
        }
        std::ranges::sort(entries, {}, &std::pair<std::int32_t, T>::first);
        for (std::size_t k = begin; k < end; ++k) {
            both.column_indices[k] = entries[k - begin].first;
            both.values[k] = entries[k - begin].second;
            if (k > begin && both.column_indices[k] == both.column_indices[k - 1]) {
                return place{row, both.column_indices[k]};
            }
        }
    }
    return std::nullopt;
}

} // namespace

template <class T>
mirrored<T> mirror(const csr_matrix<T>& half, T sign) {
    mirrored<T> result;
    result.matrix = room_for_both(half);
    fill(half, sign, result.matrix);
    if (!canonical(result.matrix)) {
        result.given_twice = sort_rows(result.matrix);
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T) template mirrored<T> mirror(const csr_matrix<T>&, T);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::market
