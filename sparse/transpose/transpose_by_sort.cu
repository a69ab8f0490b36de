// Transposition of any pattern on a CUDA device: a stable radix sort of (column, position) by the
// bits that columns have, then one gather of rows and values.
//
// Bytes a nonzero, fp64, with P bytes a position (4, or 8 from 2^32 nonzeros on) and d digits of 8
// bits: rows of nonzeros and positions 4 + P written; counting 4 read; d (4 + P) read and written;
// then P + 12 read at random places and 12 written. 1,048,576 columns have 20 bits, three digits:
// 92 bytes a nonzero.
#include <algorithm>
#include <bit>
#include <type_traits>

#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/sparse/transpose/entry_rows.cuh>
#include <krylith/sparse/transpose/transpose_ways.hpp>

namespace krylith::cuda {

namespace {

/// Stores the row of each nonzero and, as what is sorted, its position. Giant rows and any number
/// of empty ones cost no more than others: a warp has its nonzeros, not its rows.
template <class Position>
__global__ void __launch_bounds__(block_threads)
    expand_rows(const __grid_constant__ csr_pattern a, std::int32_t* rows, Position* positions) {
    const int lane = lane_number();
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    const std::int64_t windows = (a.nonzeros - 1) / warp_window + 1;
    for (std::int64_t w = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; w < windows;
         w += warps) {
        const std::int64_t begin = w * warp_window;
        const std::int64_t end = min(begin + warp_window, a.nonzeros);
        for (std::int64_t k = begin + lane; k < end; k += 32)
            positions[k] = static_cast<Position>(k);
        std::int64_t row = row_at(a.offsets, a.rows, begin);
        for (std::int64_t k = begin; k < end; row += 32) {
            const row_group group = row_group::load(a.offsets, row, a.rows, begin);
            if (group.end <= k) { // 32 empty rows, perhaps many more
                row = row_at(a.offsets, a.rows, k) - 32;
                continue;
            }
            const std::int64_t last = min(group.end, end);
            for (; k < last; k += 32) {
                const int in_group = group.row_of(static_cast<int>(k - begin));
                if (k + lane < last) rows[k + lane] = static_cast<std::int32_t>(row) + in_group;
            }
            k = last;
        }
    }
}

/// Finds where columns begin in the sorted list of them: a block has 1024 columns, finds the part
/// of the list that has these, and each thread searches in that.
__global__ void __launch_bounds__(block_threads)
    find_offsets(const std::int32_t* sorted, std::int64_t nonzeros, std::int64_t columns,
                 std::int64_t* offsets) {
    constexpr std::int64_t block_columns = 1024;
    const auto lower_bound = [&](std::int64_t low, std::int64_t high, std::int64_t column) {
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (sorted[middle] < column)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    };
    __shared__ std::int64_t range[2];
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_columns; first <= columns;
         first += std::int64_t{gridDim.x} * block_columns) {
        __syncthreads();
        if (threadIdx.x < 2)
            range[threadIdx.x] = lower_bound(0, nonzeros, first + threadIdx.x * block_columns);
        __syncthreads();
        const std::int64_t end = min(first + block_columns, columns + 1);
        for (std::int64_t c = first + threadIdx.x; c < end; c += block_threads)
            offsets[c] = range[0] == range[1] ? range[0] : lower_bound(range[0], range[1], c);
    }
}

template <class Position, class T>
__global__ void __launch_bounds__(block_threads)
    gather(const Position* order, std::int64_t count, const std::int32_t* rows,
           const __grid_constant__ transposed_arrays<T> to) {
    for (std::int64_t p = first_item(); p < count; p += item_stride()) {
        const Position k = order[p];
        to.indices[p] = rows[k];
        if (to.values != nullptr) to.transposed_values[p] = to.values[k];
    }
}

/// Columns are not negative: as unsigned numbers their order is the same, and no bit is turned
/// round.
template <class Position>
void sort_by_column(device& on, void* scratch, std::size_t& bytes, const csr_pattern& a,
                    std::int32_t* sorted, const Position* positions, Position* order) {
    const launch_scope launch(on);
    const int bits = a.columns > 1 ? std::bit_width(static_cast<std::uint64_t>(a.columns - 1)) : 1;
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        scratch, bytes, reinterpret_cast<const std::uint32_t*>(a.indices),
        reinterpret_cast<std::uint32_t*>(sorted), positions, order, a.nonzeros, 0, bits,
        launch.stream()));
}

template <class Position, class T>
void transpose_by(const std::shared_ptr<device>& on, const csr_pattern& a,
                  const transposed_arrays<T>& to, Position* places) {
    const auto count = static_cast<std::size_t>(a.nonzeros);
    const buffer<std::int32_t> rows(on, count, transposition_item);
    const buffer<Position> positions(on, count, transposition_item);
    const buffer<Position> own(on, places == nullptr ? count : 0, transposition_item);
    Position* const order = places == nullptr ? own.data() : places;
    const buffer<std::int32_t> sorted(on, count, transposition_item);
    std::size_t bytes = 0;
    sort_by_column<Position>(*on, nullptr, bytes, a, nullptr, nullptr, nullptr);
    const buffer<unsigned char> scratch(on, bytes, transposition_item);
    const std::int64_t windows = (a.nonzeros - 1) / warp_window + 1;
    launch_over(*on, windows * 32, expand_rows<Position>, a, rows.data(), positions.data());
    sort_by_column(*on, scratch.data(), bytes, a, sorted.data(), positions.data(), order);
    launch_over(*on, a.columns / 4 + 1, find_offsets, sorted.data(), a.nonzeros, a.columns,
                to.offsets);
    launch_over(*on, a.nonzeros, gather<Position, T>, order, a.nonzeros, rows.data(), to);
}

} // namespace

template <class T>
void transpose_by_sort(const std::shared_ptr<device>& on, const csr_pattern& a,
                       const transposed_arrays<T>& to) {
    if (has_narrow_positions(a.nonzeros))
        transpose_by(on, a, to, to.places.narrow);
    else
        transpose_by(on, a, to, to.places.wide);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void transpose_by_sort(const std::shared_ptr<device>&, const csr_pattern&,            \
                                    const transposed_arrays<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
