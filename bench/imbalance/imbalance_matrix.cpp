#include <krylith/bench/imbalance/imbalance_matrix.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::bench {

namespace {

/// The number of blocks of full load that all blocks amount to.
double full_blocks(const two_loads& load) {
    return load.blocks - load.light * (1 - load.ratio);
}

} // namespace

double expected_slowdown(const two_loads& load) {
    return load.blocks / full_blocks(load);
}

csr_matrix<double> make_two_loads(const two_loads& load) {
    const double per_row =
        static_cast<double>(load.nnz) / static_cast<double>(load.rows) * expected_slowdown(load);
    if (load.rows < 1 || load.nnz < 1 || load.light < 0 || load.light >= load.blocks ||
        load.blocks > load.rows || !(load.ratio > 0 && load.ratio <= 1) ||
        !(per_row <= static_cast<double>(load.rows))) {
        throw usage_error(fmt::format(
            "two loads: {} rows, {} nonzeros, {} of {} blocks light, ratio {}: must be 1 row and "
            "nonzero or more, fewer light blocks than blocks, no more blocks than rows, a ratio "
            "above 0 to 1, and rows that are no longer than there are columns",
            load.rows, load.nnz, load.light, load.blocks, load.ratio));
    }
    const row_partition blocks = equal_rows(load.rows, load.blocks);
    csr_matrix<double> a{load.rows, load.rows, {}, {}, {}};
    a.row_offsets.reserve(static_cast<std::size_t>(load.rows) + 1);
    a.row_offsets.push_back(0);
    double wanted = 0; // so that the sum is right though rows are of whole entries
    for (int block = 0; block < load.blocks; ++block) {
        const row_range range = blocks.owned(block);
        const double each = block < load.light ? per_row * load.ratio : per_row;
        for (std::int64_t row = range.begin; row < range.end; ++row) {
            wanted += each;
            a.row_offsets.push_back(std::llround(wanted));
        }
    }
    const auto nnz = static_cast<std::size_t>(a.row_offsets.back());
    resize_in_parallel(a.column_indices, nnz);
    resize_in_parallel(a.values, nnz);
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < load.rows; ++row) {
        const std::int64_t begin = a.row_offsets[static_cast<std::size_t>(row)];
        const std::int64_t length = a.row_offsets[static_cast<std::size_t>(row) + 1] - begin;
        const std::int64_t first = std::clamp<std::int64_t>(
            row - length / 2, 0, std::max<std::int64_t>(0, load.rows - length));
        for (std::int64_t k = 0; k < length; ++k) {
            const auto place = static_cast<std::size_t>(begin + k);
            a.column_indices[place] = static_cast<std::int32_t>((first + k) % load.rows);
            a.values[place] = 1.0 / static_cast<double>(1 + k % 8);
        }
    }
    return a;
}

} // namespace krylith::bench
