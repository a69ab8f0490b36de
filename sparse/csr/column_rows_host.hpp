// Rows of a matrix times several columns on host devices. Included by .cpp files only.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/csr/compressed_rows.hpp>

namespace krylith::host {

/// sum[j] = row `row` of A times column j of x, for K columns.
template <int K, class T>
inline void multiply_row(const compressed_rows<T>& a, const T* x, std::int64_t row, T* sum) {
    T sums[K] = {}; // in registers
    const std::int64_t end = a.begin(row + 1);
    for (std::int64_t at = a.begin(row); at < end; ++at) {
        const T value = a.values[at];
        const T* const entries = x + static_cast<std::int64_t>(a.columns[at]) * K;
        for (int j = 0; j < K; ++j) sums[j] += value * entries[j];
    }
    std::copy_n(sums, K, sum);
}

} // namespace krylith::host
