// Rows of a matrix times several columns on host devices. Included by .cpp files only.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_matrix/compressed_rows.hpp>

namespace krylith::host {

/// K neighbours in memory, which are added and multiplied as one. (Of a plain array in the loop
/// over the entries of a row gcc makes gathers of several entries, six times as slow.)
template <class T, int K>
struct neighbours {
    using type __attribute__((vector_size(K * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
};

/// sum[j] = row `row` of A times column j of x, for K columns.
template <int K, class T>
inline void multiply_row(const compressed_rows<T>& a, const T* x, std::int64_t row, T* sum) {
    using columns = typename neighbours<T, K>::type;
    columns sums{};
    const std::int64_t end = a.begin(row + 1);
    for (std::int64_t at = a.begin(row); at < end; ++at) {
        const T* const entries = x + static_cast<std::int64_t>(a.columns[at]) * K;
        sums += a.values[at] * *reinterpret_cast<const columns*>(entries);
    }
    *reinterpret_cast<columns*>(sum) = sums;
}

} // namespace krylith::host
