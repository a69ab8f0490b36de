// Rows of A that refer to the same rows of B as the row before, as those of a node with several
// unknowns do: their rows of C have the same columns, which are found once.
#pragma once

#include <cstdint>

#include <krylith/sparse/spgemm/first_alike.cuh>
#include <krylith/sparse/spgemm/symbolic_arrays.cuh>

namespace krylith::cuda {

/// A row repeats the one before, and that maybe another; every row of this multiple begins anew, so
/// that the way back is short. Nodes of 1, 2, 3, 4, 6, 8 and 12 rows fit.
inline constexpr std::int64_t most_repeated = 24;

/// Says of each row whether it is of count_class::wide and repeats the one before, and adds up how
/// many do. 8 lanes take a row.
__global__ void __launch_bounds__(block_threads)
    find_repeated(const __grid_constant__ csr_pattern a, const count_class_of class_of,
                  std::uint8_t* repeats, unsigned long long* count) {
    constexpr int lanes = 8;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const unsigned of_team = ((1u << lanes) - 1) << (lane_number() - lane);
    const std::int64_t stride = std::int64_t{gridDim.x} * (block_threads / lanes);
    unsigned long long found = 0;
    for (std::int64_t row = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / lanes;
         row < a.rows; row += stride) {
        const std::int64_t begin = a.offsets[row];
        const std::int64_t length = a.offsets[row + 1] - begin;
        const std::int64_t before = row % most_repeated != 0 ? a.offsets[row - 1] : begin;
        bool same =
            row % most_repeated != 0 && begin - before == length &&
            class_of(static_cast<std::uint32_t>(row)) == static_cast<int>(count_class::wide);
        for (std::int64_t k = lane; same && k - lane < length; k += lanes)
            same =
                __all_sync(of_team, k >= length || a.indices[begin + k] == a.indices[before + k]);
        if (lane != 0) continue;
        repeats[row] = same ? 1 : 0;
        found += same ? 1 : 0;
    }
    if (found != 0) atomicAdd(count, found);
}

/// Gives rows that repeat others the numbers of these.
__global__ void __launch_bounds__(block_threads)
    copy_counts(const std::uint8_t* repeats, std::int64_t rows, std::int32_t* counts) {
    for (std::int64_t row = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; row < rows;
         row += std::int64_t{gridDim.x} * block_threads)
        if (repeats[row] != 0) counts[row] = counts[first_alike(repeats, row)];
}

/// Keeps only the rows of sum_class::searched, which have columns of their own to write, and adds
/// up how many there are.
__global__ void __launch_bounds__(block_threads)
    keep_searched(const sum_class_of class_of, std::int64_t rows, std::uint8_t* repeats,
                  unsigned long long* count) {
    unsigned long long kept = 0;
    for (std::int64_t row = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; row < rows;
         row += std::int64_t{gridDim.x} * block_threads) {
        if (repeats[row] == 0) continue;
        const bool searched =
            class_of(static_cast<std::uint32_t>(row)) == static_cast<int>(sum_class::searched);
        if (!searched) repeats[row] = 0;
        kept += searched ? 1 : 0;
    }
    if (kept != 0) atomicAdd(count, kept);
}

/// The class of a row whose columns must be found.
struct first_class_of {
    sum_class_of class_of;
    const std::uint8_t* repeats;
    [[nodiscard]] __device__ int operator()(std::uint32_t i) const {
        return repeats[i] != 0 ? -1 : class_of(i);
    }
};

} // namespace krylith::cuda
