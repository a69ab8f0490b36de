#include <krylith/matrix/statistics.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/matrix/statistics/length_histogram.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

row_lengths measure_row_lengths(std::span<const std::int64_t> offsets) {
    const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
    row_lengths result;
    if (n <= 0) return result;
    std::int64_t least = offsets.back();
    std::int64_t most = 0;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
    for (std::int64_t row = 0; row < n; ++row) {
        const std::int64_t length = offsets[as_size(row) + 1] - offsets[as_size(row)];
        least = std::min(least, length);
        most = std::max(most, length);
    }
    const auto count = static_cast<double>(n);
    result.least = least;
    result.most = most;
    result.mean = static_cast<double>(offsets.back() - offsets.front()) / count;
    double squares = 0;
    double before = 0;  // entries in shorter rows
    double unequal = 0; // twice the area under the Lorenz curve, times n and nnz
    const std::vector<std::int64_t> rows = length_histogram(offsets, most);
    for (std::int64_t length = least; length <= most; ++length) {
        const auto alike = static_cast<double>(rows[as_size(length)]);
        const auto entries = alike * static_cast<double>(length);
        const double distance = static_cast<double>(length) - result.mean;
        squares += alike * distance * distance;
        unequal += alike * (2 * before + entries);
        before += entries;
    }
    result.deviation = std::sqrt(squares / count);
    if (before > 0) result.gini = std::max(0.0, 1 - unequal / (count * before));
    if (least == 0) result.empty = rows.front();
    return result;
}

} // namespace krylith
