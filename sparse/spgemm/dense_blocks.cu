// Blocks of factors: found, contracted to one entry each, and expanded again.
#include <krylith/sparse/spgemm/dense_blocks.hpp>

#include <algorithm>
#include <array>
#include <bit>

#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

#include <krylith/device/cuda/launch_over.cuh>

namespace krylith::cuda {

namespace {

/// Sizes that blocks may have, a bit each: of rows, and of columns.
struct block_candidates {
    unsigned rows;
    unsigned columns;
};

constexpr unsigned all_sizes = (2u << most_of_block) - 4; // 2 to most_of_block

constexpr int pattern_lanes = 8;

/// Strikes out the sizes that rows [0, rows) of a matrix do not have. 8 lanes take a row. The
/// columns of a row must be runs of a size, each from a multiple of it on; rows must repeat the
/// columns of the row before unless they are a multiple of a size. `ascending`: runs must ascend.
__global__ void __launch_bounds__(block_threads)
    strike_sizes(const __grid_constant__ csr_pattern m, std::int64_t rows, bool ascending,
                 const block_candidates candidates, block_candidates* left) {
    const auto lane = static_cast<unsigned>(threadIdx.x % pattern_lanes);
    block_candidates mine = candidates;
    const std::int64_t stride = std::int64_t{gridDim.x} * (block_threads / pattern_lanes);
    for (std::int64_t row =
             (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / pattern_lanes;
         row < rows; row += stride) {
        const std::int64_t begin = m.offsets[row];
        const auto length = static_cast<unsigned>(m.offsets[row + 1] - begin);
        const std::int64_t before = row > 0 ? m.offsets[row - 1] : begin;
        bool repeats = row > 0 && begin - before == std::int64_t{length};
        for (unsigned k = lane; k < length && (mine.columns | mine.rows) != 0; k += pattern_lanes) {
            const auto column = static_cast<unsigned>(m.indices[begin + k]);
            const unsigned last = k > 0 ? static_cast<unsigned>(m.indices[begin + k - 1]) : 0;
            for (unsigned rest = mine.columns; rest != 0; rest &= rest - 1) {
                const auto size = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
                const unsigned at = k % size;
                const bool fits =
                    at != 0 ? column == last + 1
                            : column % size == 0 && (!ascending || k == 0 || column > last);
                if (!fits) mine.columns &= ~(1u << size);
            }
            repeats = repeats && static_cast<unsigned>(m.indices[before + k]) == column;
        }
        for (unsigned rest = mine.columns; rest != 0; rest &= rest - 1) {
            const auto size = static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1);
            if (length % size != 0) mine.columns &= ~(1u << size);
        }
        if (!repeats)
            for (unsigned rest = mine.rows; rest != 0; rest &= rest - 1) {
                const int size = __ffs(static_cast<int>(rest)) - 1;
                if (row % size != 0) mine.rows &= ~(1u << size);
            }
    }
    mine.rows = __reduce_and_sync(all_lanes, mine.rows);
    mine.columns = __reduce_and_sync(all_lanes, mine.columns);
    if (lane_number() != 0) return;
    if (mine.rows != candidates.rows) atomicAnd(&left->rows, mine.rows);
    if (mine.columns != candidates.columns) atomicAnd(&left->columns, mine.columns);
}

/// 8 lanes a row of blocks.
__global__ void __launch_bounds__(block_threads)
    contract(const __grid_constant__ csr_pattern m, int rows, int columns, std::int64_t block_rows,
             std::int64_t* offsets, std::int32_t* indices) {
    const auto lane = static_cast<std::int64_t>(threadIdx.x % pattern_lanes);
    const std::int64_t stride = std::int64_t{gridDim.x} * (block_threads / pattern_lanes);
    for (std::int64_t row =
             (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / pattern_lanes;
         row <= block_rows; row += stride) {
        const std::int64_t begin = m.offsets[row * rows];
        const std::int64_t to = begin / (rows * columns);
        if (lane == 0) offsets[row] = to;
        if (row == block_rows) continue;
        const std::int64_t count = (m.offsets[row * rows + 1] - begin) / columns;
        for (std::int64_t k = lane; k < count; k += pattern_lanes)
            indices[to + k] = m.indices[begin + k * columns] / columns;
    }
}

/// A warp a row of blocks.
__global__ void __launch_bounds__(block_threads)
    expand(const __grid_constant__ csr_pattern blocks, int rows, int columns, std::int64_t* offsets,
           std::int32_t* indices) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t row = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         row < blocks.rows; row += stride) {
        const std::int64_t from = blocks.offsets[row];
        const auto length = static_cast<int>(blocks.offsets[row + 1] - from) * columns;
        std::int64_t to = from * rows * columns;
        for (int i = 0; i < rows; ++i, to += length) {
            if (lane_number() == 0) offsets[row * rows + i] = to;
            for (int k = lane_number(); k < length; k += 32)
                indices[to + k] = blocks.indices[from + k / columns] * columns + k % columns;
        }
        if (lane_number() == 0 && row == blocks.rows - 1) offsets[blocks.rows * rows] = to;
    }
}

/// What has short rows gains nothing from blocks.
bool long_enough(const csr_pattern& m) {
    return m.nonzeros != 0 && m.nonzeros >= 4 * m.rows;
}

/// Of the candidates of A and B those that rows up to `rows` have.
std::array<block_candidates, 2> left_of(const std::shared_ptr<device>& device, const csr_pattern& a,
                                        const csr_pattern& b, std::int64_t rows,
                                        std::array<block_candidates, 2> candidates) {
    const buffer<block_candidates> left(device, 2, product_item);
    device->upload(left.data(), candidates.data(), sizeof candidates);
    for (int i = 0; i < 2; ++i) {
        const csr_pattern& m = i == 0 ? a : b;
        const std::int64_t looked_at = std::min(rows, m.rows);
        launch_over(*device, looked_at * pattern_lanes, strike_sizes, m, looked_at, i == 1,
                    candidates[static_cast<std::size_t>(i)], left.data() + i);
    }
    device->download(candidates.data(), left.data(), sizeof candidates);
    return candidates;
}

/// The largest of sizes that divides a number of rows or columns; 1 where there is none.
int largest_of(unsigned sizes, std::int64_t of) {
    for (; sizes != 0; sizes &= ~std::bit_floor(sizes)) {
        const int size = std::bit_width(sizes) - 1;
        if (of % size == 0) return size;
    }
    return 1;
}

} // namespace

std::int64_t most_block_bytes(const csr_pattern& a, const csr_pattern& b) noexcept {
    if (!long_enough(a) || !long_enough(b)) return 0;
    constexpr std::int64_t least_block = 4; // 2 x 2
    return 4 * ((a.nonzeros + b.nonzeros) / least_block) + 8 * ((a.rows + b.rows) / 2 + 2);
}

block_sizes find_dense_blocks(const std::shared_ptr<device>& device, const csr_pattern& a,
                              const csr_pattern& b) {
    if (!long_enough(a) || !long_enough(b)) return {};
    constexpr std::int64_t few = 64;
    std::array<block_candidates, 2> left{{{all_sizes, all_sizes}, {all_sizes, all_sizes}}};
    for (const std::int64_t rows : {few, std::max({few, a.rows, b.rows})}) {
        left = left_of(device, a, b, rows, left);
        const unsigned inner = left[0].columns & left[1].rows;
        if (left[0].rows == 0 || inner == 0 || left[1].columns == 0) return {};
        left[0].columns = left[1].rows = inner;
    }
    return {largest_of(left[0].rows, a.rows), largest_of(left[0].columns, b.rows),
            largest_of(left[1].columns, b.columns)};
}

block_pattern blocks_of(const std::shared_ptr<device>& device, const csr_pattern& of, int rows,
                        int columns, bool ascends) {
    block_pattern p;
    p.ascends = ascends;
    p.rows = of.rows / rows;
    p.columns = of.columns / columns;
    p.offsets = {device, static_cast<std::size_t>(p.rows + 1), product_item};
    p.indices = {device, static_cast<std::size_t>(of.nonzeros / (rows * columns)), product_item};
    launch_over(*device, (p.rows + 1) * pattern_lanes, contract, of, rows, columns, p.rows,
                p.offsets.data(), p.indices.data());
    return p;
}

void expand_blocks(device& device, const csr_pattern& blocks, int rows, int columns,
                   std::int64_t* offsets, std::int32_t* indices) {
    launch_blocks(device, (blocks.rows + block_warps - 1) / block_warps, expand, blocks, rows,
                  columns, offsets, indices);
}

} // namespace krylith::cuda
