#include <krylith/distributed/source/scattered_entries.hpp>

#include <algorithm>
#include <cstdlib>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

std::vector<std::int64_t> sampled_rows(row_range rows) {
    constexpr std::int64_t samples = 256;
    const std::int64_t pairs = rows.size() - 1;
    std::vector<std::int64_t> result;
    for (std::int64_t k = 0; k < std::min(samples, pairs); ++k)
        result.push_back(rows.begin + (pairs <= samples ? k : pairs / samples * k));
    return result;
}

double scattered_fraction(std::span<const sampled_pair> sample, std::int64_t value_bytes) {
    const auto near = sector_bytes / static_cast<std::int32_t>(value_bytes);
    std::int64_t tested = 0;
    std::int64_t alone = 0;
    for (const sampled_pair& pair : sample)
        for (const std::int32_t column : pair.row) {
            ++tested;
            alone += std::ranges::none_of(pair.next, [&](std::int32_t other) {
                return std::abs(std::int64_t{other} - column) < near;
            });
        }
    return tested == 0 ? 0 : static_cast<double>(alone) / static_cast<double>(tested);
}

double scattered_fraction(row_range rows, std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> column_indices, std::int64_t value_bytes) {
    const auto columns = [&](std::int64_t row) {
        const auto begin = row_offsets[as_size(row)];
        const auto end = std::min(row_offsets[as_size(row) + 1], begin + most_sampled_entries);
        return column_indices.subspan(as_size(begin), as_size(end - begin));
    };
    std::vector<sampled_pair> sample;
    for (const std::int64_t row : sampled_rows(rows))
        sample.push_back({columns(row), columns(row + 1)});
    return scattered_fraction(sample, value_bytes);
}

} // namespace krylith
