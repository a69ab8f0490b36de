#include <krylith/partition/replicated/long_block.hpp>

#include <algorithm>
#include <vector>

namespace krylith {

namespace {

std::int64_t nonzeros(std::span<const std::int64_t> row_offsets, row_range rows) {
    return row_offsets[static_cast<std::size_t>(rows.end)] -
           row_offsets[static_cast<std::size_t>(rows.begin)];
}

std::int64_t aligned(std::int64_t row, std::int64_t alignment) {
    return row / alignment * alignment;
}

} // namespace

row_range find_long_block(std::int64_t rows, std::int64_t longest, std::int64_t size,
                          std::int64_t alignment) {
    if (size <= 0) return {0, 0};
    if (size >= rows) return {0, rows};
    const row_range front{0, aligned(size, alignment)};
    const row_range back{aligned(rows - size, alignment), rows};
    const bool in_front = front.contains(longest);
    const bool in_back = back.contains(longest);
    if (in_front && (!in_back || longest < rows - longest)) return front;
    if (in_back) return back;
    const std::int64_t begin = aligned(std::max<std::int64_t>(0, longest - size / 2), alignment);
    // The block has whole groups of rows, at least the longest row's.
    const std::int64_t groups = std::max<std::int64_t>((size + alignment - 1) / alignment,
                                                       (longest - begin) / alignment + 1);
    return {begin, std::min(rows, begin + groups * alignment)};
}

row_range find_redundant_block(std::span<const std::int64_t> row_offsets, row_range long_block,
                               std::int64_t size, std::int64_t alignment) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    const bool after = rows - long_block.end >= long_block.begin;
    const row_range side = after ? row_range{long_block.end, rows} : row_range{0, long_block.begin};
    if (size <= 0) return {side.begin, side.begin};
    if (size >= side.size()) return side;
    const row_range low{side.begin, side.begin + aligned(size, alignment)};
    const row_range high{aligned(side.end - size, alignment), side.end};
    const auto mean = [&](row_range range) {
        return static_cast<double>(nonzeros(row_offsets, range)) /
               static_cast<double>(std::max<std::int64_t>(1, range.size()));
    };
    const row_range near = after ? low : high;
    const row_range far = after ? high : low;
    if (near.size() == 0) return far;
    if (far.size() == 0) return near;
    return mean(far) < mean(near) ? far : near;
}

std::vector<row_range> short_rows(std::int64_t rows, row_range long_block,
                                  row_range redundant_block) {
    std::vector<row_range> taken;
    for (const row_range range : {long_block, redundant_block})
        if (range.size() != 0) taken.push_back(range);
    std::ranges::sort(taken, {}, &row_range::begin);
    std::vector<row_range> left;
    std::int64_t next = 0;
    for (const row_range range : taken) {
        if (next < range.begin) left.push_back({next, range.begin});
        next = range.end;
    }
    if (next < rows) left.push_back({next, rows});
    return left;
}

} // namespace krylith
