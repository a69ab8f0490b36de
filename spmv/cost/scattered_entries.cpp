#include <krylith/spmv/cost/scattered_entries.hpp>

#include <algorithm>
#include <cstdlib>

#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

double scattered_fraction(row_range rows, std::span<const std::int64_t> row_offsets,
                          std::span<const std::int32_t> column_indices, std::int64_t value_bytes) {
    constexpr std::int64_t samples = 256;
    constexpr std::int64_t most = 32;
    const auto near = sector_bytes / static_cast<std::int32_t>(value_bytes);
    const auto columns = [&](std::int64_t row) {
        const auto begin = row_offsets[as_size(row)];
        const auto end = std::min(row_offsets[as_size(row) + 1], begin + most);
        return column_indices.subspan(as_size(begin), as_size(end - begin));
    };
    std::int64_t tested = 0;
    std::int64_t alone = 0;
    const std::int64_t pairs = rows.size() - 1;
    for (std::int64_t k = 0; k < std::min(samples, pairs); ++k) {
        const std::int64_t row = rows.begin + (pairs <= samples ? k : pairs / samples * k);
        const auto next = columns(row + 1);
        for (const std::int32_t column : columns(row)) {
            ++tested;
            alone += std::ranges::none_of(next, [&](std::int32_t other) {
                return std::abs(std::int64_t{other} - column) < near;
            });
        }
    }
    return tested == 0 ? 0 : static_cast<double>(alone) / static_cast<double>(tested);
}

} // namespace krylith
