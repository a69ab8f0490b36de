#include <krylith/partition/replicated/block_partition.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/partition/replicated/long_block.hpp>

namespace krylith {

namespace {

void require_fractions(const row_fractions& fractions) {
    const auto refuse = [](const char* name, double value) {
        throw usage_error("long_rows_last: " + std::string(name) + " is " + number_text(value) +
                          ", must be from 0 to 1");
    };
    const auto is_fraction = [](double value) { return value >= 0 && value <= 1; };
    if (!is_fraction(fractions.long_rows)) refuse("row_fractions::long_rows", fractions.long_rows);
    if (!is_fraction(fractions.redundant)) refuse("row_fractions::redundant", fractions.redundant);
    if (fractions.long_rows + fractions.redundant > 1)
        refuse("the sum of both row_fractions", fractions.long_rows + fractions.redundant);
}

/// Refuses a longest row that is not there, or is of another length: it comes from another matrix.
void require_row(const longest_row& longest, std::span<const std::int64_t> row_offsets) {
    const auto rows = static_cast<std::int64_t>(row_offsets.size()) - 1;
    if (rows == 0) return;
    const std::string given = "long_rows_last: the longest row is row " +
                              std::to_string(longest.row) + " with " +
                              std::to_string(longest.nonzeros) + " nonzeros, ";
    if (longest.row < 0 || longest.row >= rows)
        throw usage_error(given + "must be one of " + std::to_string(rows) + " rows");
    const auto row = static_cast<std::size_t>(longest.row);
    const std::int64_t nonzeros = row_offsets[row + 1] - row_offsets[row];
    if (longest.nonzeros != nonzeros)
        throw usage_error(given + "but that row has " + std::to_string(nonzeros) +
                          ": must be of the same matrix");
}

/// Assigns rows of up to two ranges, taken as one, to the ranks by equal nonzeros.
void assign_rows(std::span<const std::int64_t> row_offsets, std::span<const row_range> ranges,
                 block_stage stage, std::int64_t alignment, std::vector<local_blocks>& ranks) {
    std::int64_t rows = 0;
    for (const row_range range : ranges) rows += range.size();
    const auto before = [&](std::int64_t row) {
        std::int64_t nonzeros = 0;
        for (const row_range range : ranges) {
            const std::int64_t here = std::min(row, range.size());
            nonzeros += row_offsets[static_cast<std::size_t>(range.begin + here)] -
                        row_offsets[static_cast<std::size_t>(range.begin)];
            row -= here;
        }
        return nonzeros;
    };
    const row_partition split =
        equal_nonzeros(rows, before, static_cast<int>(ranks.size()), alignment);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
        const row_range mine = split.owned(static_cast<int>(k));
        std::int64_t first = 0; // this range's first row among all
        for (const row_range range : ranges) {
            const std::int64_t begin = std::max(mine.begin, first);
            const std::int64_t end = std::min(mine.end, first + range.size());
            if (begin < end)
                ranks[k].ranges.push_back(
                    {{range.begin + begin - first, range.begin + end - first}, stage});
            first += range.size();
        }
    }
}

} // namespace

std::int64_t block_partition::computed(int rank) const {
    std::int64_t count = redundant.size();
    for (const staged_rows& range : local.at(static_cast<std::size_t>(rank)).ranges)
        count += range.rows.size();
    return count;
}

row_fractions usual_fractions(double nonzeros_a_row, int ranks, bool redundant, bool direct) {
    if (nonzeros_a_row >= 8) return redundant ? row_fractions{0.30, 0.025} : row_fractions{0.35, 0};
    if (!redundant) return {0.50, 0};
    if (ranks <= 2) return {0.40, direct ? 0.15 : 0.25};
    return {0.35, 0.20};
}

block_partition one_block(const row_partition& rows) {
    block_partition result{rows.rows(), {}, {}};
    for (int k = 0; k < rows.ranks(); ++k) {
        result.local.emplace_back();
        if (rows.owned(k).size() != 0)
            result.local.back().ranges.push_back({rows.owned(k), block_stage::first});
    }
    return result;
}

block_partition two_blocks(std::span<const std::int64_t> row_offsets, int ranks,
                           std::int64_t alignment) {
    const row_partition blocks = equal_nonzeros(row_offsets, 2 * ranks, alignment);
    block_partition result{blocks.rows(), {}, {}};
    for (int k = 0; k < ranks; ++k) {
        result.local.emplace_back();
        for (const block_stage stage : {block_stage::first, block_stage::second}) {
            const row_range rows = blocks.owned(2 * k + static_cast<int>(stage));
            if (rows.size() != 0) result.local.back().ranges.push_back({rows, stage});
        }
    }
    return result;
}

block_partition long_rows_last(std::span<const std::int64_t> row_offsets,
                               const longest_row& longest, int ranks,
                               const row_fractions& fractions, std::int64_t alignment) {
    require_fractions(fractions);
    // This refuses offsets that do not ascend, and wrong sizes.
    const row_partition valid = equal_nonzeros(row_offsets, ranks, alignment);
    require_row(longest, row_offsets);
    const std::int64_t rows = valid.rows();
    const auto all = static_cast<double>(rows);
    const row_range long_block = find_long_block(
        rows, longest.row, static_cast<std::int64_t>(std::floor(fractions.long_rows * all)),
        alignment);
    const row_range redundant = find_redundant_block(
        row_offsets, long_block, static_cast<std::int64_t>(std::llround(fractions.redundant * all)),
        alignment);

    block_partition result{rows, {}, redundant.size() != 0 ? redundant : row_range{}};
    result.local.resize(static_cast<std::size_t>(ranks));
    const auto short_ranges = short_rows(rows, long_block, redundant);
    assign_rows(row_offsets, short_ranges, block_stage::first, alignment, result.local);
    assign_rows(row_offsets, std::span(&long_block, 1), block_stage::second, alignment,
                result.local);
    const row_partition counted = equal_rows(result.redundant.size(), ranks);
    for (int k = 0; k < ranks; ++k) {
        const row_range mine = counted.owned(k);
        result.local[static_cast<std::size_t>(k)].counted = {result.redundant.begin + mine.begin,
                                                             result.redundant.begin + mine.end};
    }
    return result;
}

} // namespace krylith
