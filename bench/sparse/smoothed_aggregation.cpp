#include <krylith/bench/sparse/smoothed_aggregation.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace krylith::bench {

namespace {

/// Calls visit(k) for the entries of row i.
template <class T, class Visit>
void for_places(const csr_matrix<T>& a, std::size_t i, const Visit& visit) {
    const auto end = static_cast<std::size_t>(a.row_offsets[i + 1]);
    for (auto k = static_cast<std::size_t>(a.row_offsets[i]); k < end; ++k) visit(k);
}

/// The aggregate of each row, and the number of aggregates behind them.
template <class T>
std::vector<std::int32_t> aggregates(const csr_matrix<T>& a) {
    const auto rows = static_cast<std::size_t>(a.rows);
    std::vector<std::int32_t> of(rows + 1, -1);
    std::int32_t count = 0;
    const auto at = [&](std::size_t k) -> std::int32_t& {
        return of[static_cast<std::size_t>(a.column_indices[k])];
    };
    for (std::size_t i = 0; i < rows; ++i) {
        bool free = of[i] < 0;
        for_places(a, i, [&](std::size_t k) { free = free && at(k) < 0; });
        if (!free) continue;
        of[i] = count;
        for_places(a, i, [&](std::size_t k) { at(k) = count; });
        ++count;
    }
    const std::int32_t roots = count;
    for (std::size_t i = 0; i < rows; ++i) {
        if (of[i] >= 0) continue;
        for_places(a, i, [&](std::size_t k) {
            if (of[i] < 0 && at(k) >= 0 && at(k) < roots) of[i] = at(k);
        });
        if (of[i] < 0) of[i] = count++;
    }
    of[rows] = count;
    return of;
}

} // namespace

template <class T>
csr_matrix<T> smoothed_aggregation(const csr_matrix<T>& a) {
    const std::vector<std::int32_t> of = aggregates(a);
    const std::vector<T> d = diagonal<T>(a);
    csr_matrix<T> p;
    p.rows = a.rows;
    p.columns = of.back();
    std::vector<std::pair<std::int32_t, T>> row;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
        row.assign(1, {of[i], T{1}});
        const T scale = d[i] == T{0} ? T{0} : T(2) / T(3) / d[i];
        for_places(a, i, [&](std::size_t k) {
            const std::int32_t to = of[static_cast<std::size_t>(a.column_indices[k])];
            const T value = -scale * a.values[k];
            const auto same = std::ranges::find(row, to, &std::pair<std::int32_t, T>::first);
            if (same == row.end())
                row.emplace_back(to, value);
            else
                same->second += value;
        });
        std::ranges::sort(row, {}, &std::pair<std::int32_t, T>::first);
        for (const auto& [column, value] : row) {
            p.column_indices.push_back(column);
            p.values.push_back(value);
        }
        p.row_offsets.push_back(p.nnz());
    }
    return p;
}

template csr_matrix<double> smoothed_aggregation(const csr_matrix<double>&);
template csr_matrix<float> smoothed_aggregation(const csr_matrix<float>&);

} // namespace krylith::bench
