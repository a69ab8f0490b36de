#include <krylith/bench/sparse/sparse_pattern.hpp>

#include <cmath>

#include <krylith/matrix/statistics.hpp>

namespace krylith::bench {

pattern_facts facts_of(std::span<const std::int64_t> offsets, std::span<const std::int32_t> indices,
                       std::int64_t columns) {
    const row_lengths lengths = measure_row_lengths(offsets);
    pattern_facts facts{lengths.mean, lengths.most,
                        lengths.mean > 0 ? lengths.deviation / lengths.mean : 0, 0};
    if (indices.empty()) return facts;
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const double row_share = 1.0 / static_cast<double>(rows);
    const double column_share = 1.0 / static_cast<double>(columns);
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t k = offsets.data()[row]; k < offsets.data()[row + 1]; ++k)
            sum +=
                std::abs(indices.data()[k] * column_share - static_cast<double>(row) * row_share);
    facts.spread = sum / static_cast<double>(indices.size());
    return facts;
}

} // namespace krylith::bench
