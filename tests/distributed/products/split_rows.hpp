// Matrices of tests over the devices of a group, and uneven partitions of their rows and columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::testing {

/// Returns ranges of different sizes, some of them empty where there are several.
[[nodiscard]] inline row_partition uneven_rows(std::int64_t rows, int ranks, int shape = 0) {
    row_partition result = equal_rows(rows, ranks);
    for (int k = 1; k < ranks; ++k) {
        std::int64_t& begin = result.begin[static_cast<std::size_t>(k)];
        if ((k + shape) % 3 == 0) begin = result.begin[static_cast<std::size_t>(k - 1)];
        if ((k + shape) % 3 == 1) begin -= begin / 5;
        begin = std::max(begin, result.begin[static_cast<std::size_t>(k - 1)]);
    }
    return result;
}

template <class T>
[[nodiscard]] distributed_csr<T> split(const device_group& group, const csr_matrix<T>& a,
                                       int row_shape = 0, int column_shape = 1) {
    return {group, csr_view<T>(a), uneven_rows(a.rows, group.size(), row_shape),
            uneven_rows(a.columns, group.size(), column_shape)};
}

/// The same numbers in another precision.
template <class To, class From>
[[nodiscard]] csr_matrix<To> as_type(const csr_matrix<From>& a) {
    return {a.rows, a.columns, a.row_offsets, a.column_indices,
            std::vector<To>(a.values.begin(), a.values.end())};
}

} // namespace krylith::testing
