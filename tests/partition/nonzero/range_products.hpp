// y = alpha A x + beta y from the parts of A alone, as devices will do it: each part multiplies
// what it holds, then lines that several hold are added up in the order of parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/pcoo.hpp>
#include <krylith/partition/nonzero/pcsr.hpp>
#include <krylith/partition/nonzero/shared_major.hpp>

namespace krylith::partition_tests {

/// sums[k][i] is part k's sum for its line i. Writes each line once, by its owner.
inline std::vector<double> merged_lines(const std::vector<major_range>& major_ranges,
                                        const std::vector<std::vector<double>>& sums, double alpha,
                                        double beta, std::vector<double> y) {
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const row_range own = major_ranges[k].owned();
        for (std::int64_t i = own.begin; i < own.end; ++i) {
            double& entry = y[as_size(i)];
            entry = alpha * sums[k][as_size(i - major_ranges[k].start_major)] +
                    (beta == 0 ? 0 : beta * entry);
        }
    }
    for (const shared_index& shared : shared_indices(major_ranges))
        for (int k = shared.first_part + 1; k <= shared.last_part; ++k)
            if (major_ranges[as_size(k)].entries() > 0)
                y[as_size(shared.major)] += alpha * sums[as_size(k)].front();
    return y;
}

/// sums[k] is part k's result, over the whole length.
inline std::vector<double> merged_vectors(const std::vector<std::vector<double>>& sums,
                                          double alpha, double beta, std::vector<double> y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
        double sum = 0;
        for (const auto& of_part : sums) sum += of_part[i];
        y[i] = alpha * sum + (beta == 0 ? 0 : beta * y[i]);
    }
    return y;
}

inline std::vector<double> product(const pcsr<double>& a, double alpha,
                                   const std::vector<double>& x, double beta,
                                   const std::vector<double>& y) {
    std::vector<std::vector<double>> sums;
    for (int k = 0; k < a.parts(); ++k) {
        const pcsr_range<double> range = a.range(k);
        std::vector<double>& mine = sums.emplace_back();
        for (std::size_t i = 0; i + 1 < range.offsets.size(); ++i) {
            mine.push_back(0);
            for (std::int64_t e = range.offsets[i]; e < range.offsets[i + 1]; ++e)
                mine.back() += range.values[as_size(e)] * x[as_size(range.indices[as_size(e)])];
        }
    }
    return merged_lines(a.major_ranges, sums, alpha, beta, y);
}

inline std::vector<double> product(const pcsc<double>& a, double alpha,
                                   const std::vector<double>& x, double beta,
                                   const std::vector<double>& y) {
    std::vector<std::vector<double>> sums;
    for (int k = 0; k < a.parts(); ++k) {
        const pcsc_range<double> range = a.range(k);
        std::vector<double>& mine = sums.emplace_back(y.size());
        for (std::size_t j = 0; j + 1 < range.offsets.size(); ++j)
            for (std::int64_t e = range.offsets[j]; e < range.offsets[j + 1]; ++e)
                mine[as_size(range.indices[as_size(e)])] +=
                    range.values[as_size(e)] * x[as_size(range.majors.start_major) + j];
    }
    return merged_vectors(sums, alpha, beta, y);
}

inline std::vector<double> product(const pcoo<double>& a, double alpha,
                                   const std::vector<double>& x, double beta,
                                   const std::vector<double>& y) {
    const bool by_rows = a.order == coo_order::by_rows;
    std::vector<std::vector<double>> sums;
    for (int k = 0; k < a.parts(); ++k) {
        const pcoo_range<double> range = a.range(k);
        const std::int64_t first = by_rows ? range.majors.start_major : 0;
        std::vector<double>& mine =
            sums.emplace_back(by_rows ? as_size(range.majors.major_size()) : y.size());
        for (std::size_t e = 0; e < range.values.size(); ++e)
            mine[as_size(range.row_indices[e] - first)] +=
                range.values[e] * x[as_size(range.column_indices[e])];
    }
    return by_rows ? merged_lines(a.major_ranges, sums, alpha, beta, y)
                   : merged_vectors(sums, alpha, beta, y);
}

} // namespace krylith::partition_tests
