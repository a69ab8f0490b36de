// y = A x from the ranges of A alone, as devices will do it: each range multiplies what it has,
// then rows that several have are added up in the order of ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/pcsr.hpp>

#include <krylith/tests/partition/nonzero/range_matrices.hpp>

namespace krylith::partition_tests {

/// By rows. y = alpha A x + beta y, each row written once, by its owner.
inline std::vector<double> product_by_rows(const pcsr& parts, const test_arrays& a,
                                           const std::vector<std::int64_t>& offsets, double alpha,
                                           const std::vector<double>& x, double beta,
                                           std::vector<double> y) {
    std::vector<std::vector<double>> sums;
    for (const major_range& range : parts.ranges) {
        const auto local = range_offsets(offsets, range);
        auto& mine = sums.emplace_back(as_size(range.majors()));
        for (std::size_t i = 0; i < mine.size(); ++i)
            for (std::int64_t e = local[i]; e < local[i + 1]; ++e) {
                const std::size_t k = as_size(range.start_idx + e);
                mine[i] += a.values[k] * x[as_size(a.column_indices[k])];
            }
        const row_range own = range.owned();
        for (std::int64_t i = own.begin; i < own.end; ++i) {
            double& entry = y[as_size(i)];
            entry = alpha * mine[as_size(i - range.start_major)] + (beta == 0 ? 0 : beta * entry);
        }
    }
    for (const shared_major& shared : parts.shared)
        for (int k = shared.first + 1; k <= shared.last; ++k)
            if (parts.ranges[as_size(k)].entries() > 0)
                y[as_size(shared.major)] += alpha * sums[as_size(k)].front();
    return y;
}

/// By columns: each range has results of all rows.
inline std::vector<double> product_by_columns(const pcsr& parts, const test_arrays& a,
                                              const std::vector<std::int64_t>& offsets,
                                              double alpha, const std::vector<double>& x,
                                              double beta, std::vector<double> y) {
    std::vector<double> sums(y.size());
    for (const major_range& range : parts.ranges) {
        const auto local = range_offsets(offsets, range);
        for (std::size_t j = 0; j + 1 < local.size(); ++j)
            for (std::int64_t e = local[j]; e < local[j + 1]; ++e) {
                const std::size_t k = as_size(range.start_idx + e);
                sums[as_size(a.row_indices[k])] += a.values[k] * x[as_size(range.start_major) + j];
            }
    }
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = alpha * sums[i] + (beta == 0 ? 0 : beta * y[i]);
    return y;
}

} // namespace krylith::partition_tests
