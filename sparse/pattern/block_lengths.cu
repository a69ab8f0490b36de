// The lengths of rows, measured and sorted on a CUDA device. A warp takes the 32 rows of a slice,
// a block the 1024 rows of a window of sorting.
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/pattern/block_lengths.hpp>
#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

struct length_counts {
    atomic_word longest;       ///< longest_key() of the longest row
    atomic_word slice_columns; ///< in the natural order
    atomic_word sorted_slice_columns;
    atomic_word in_long_rows;
    unsigned descends;
};

constexpr atomic_word low_half = 0xffffffffu;

/// A number that is largest for the longest row, and for the first of several.
__device__ inline atomic_word longest_key(std::int64_t length, std::int64_t row) {
    const auto wide = static_cast<atomic_word>(length);
    return (wide < low_half ? wide : low_half) << 32 | (low_half - static_cast<atomic_word>(row));
}

__global__ void __launch_bounds__(block_threads)
    count_lengths(const std::int64_t* offsets, std::int64_t rows, length_counts* counts) {
    const int lane = lane_number();
    const std::int64_t slices = (rows + slice_rows - 1) / slice_rows;
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    atomic_word longest = 0;
    atomic_word slice_columns = 0;
    atomic_word in_long_rows = 0;
    bool descends = false;
    for (std::int64_t slice = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         slice < slices; slice += warps) {
        const std::int64_t row = slice * slice_rows + lane;
        std::int64_t length = 0;
        if (row < rows) {
            const std::int64_t begin = offsets[row];
            const std::int64_t end = offsets[row + 1];
            descends = descends || end < begin;
            length = end < begin ? 0 : end - begin;
            const atomic_word key = longest_key(length, row);
            longest = key > longest ? key : longest;
        }
        if (length > csr_tile_entries) in_long_rows += static_cast<atomic_word>(length);
        slice_columns += static_cast<atomic_word>(
            warp_reduce(length, [](std::int64_t a, std::int64_t b) { return a > b ? a : b; }));
    }
    longest = warp_reduce(longest, [](atomic_word a, atomic_word b) { return a > b ? a : b; });
    in_long_rows = warp_sum(in_long_rows);
    descends = __any_sync(all_lanes, descends) != 0;
    if (lane != 0) return;
    if (longest != 0) atomicMax(&counts->longest, longest);
    if (slice_columns != 0) atomicAdd(&counts->slice_columns, slice_columns);
    if (in_long_rows != 0) atomicAdd(&counts->in_long_rows, in_long_rows);
    if (descends) atomicOr(&counts->descends, 1u);
}

/// A window in shared memory, by keys that ascend with the places of rows: longer rows first, equal
/// ones in their order.
struct sorted_window {
    static constexpr int size = static_cast<int>(sort_window);
    static constexpr atomic_word none = ~atomic_word{0};
    atomic_word keys[size];

    [[nodiscard]] static __device__ atomic_word key(std::int64_t length, int at) {
        constexpr atomic_word most = (atomic_word{1} << 53) - 1;
        return (most - static_cast<atomic_word>(length)) << 10 | static_cast<atomic_word>(at);
    }
    [[nodiscard]] static __device__ int place_of(atomic_word key) {
        return static_cast<int>(key & (size - 1));
    }
    [[nodiscard]] static __device__ atomic_word length_of(atomic_word key) {
        return ((atomic_word{1} << 53) - 1) - (key >> 10);
    }

    /// Loads the keys of a window and sorts them in a bitonic network. The whole block calls it.
    __device__ void fill(const std::int64_t* offsets, std::int64_t rows, std::int64_t first) {
        __syncthreads(); // readers of the window before
        for (int at = static_cast<int>(threadIdx.x); at < size; at += block_threads) {
            const std::int64_t row = first + at;
            keys[at] = row < rows ? key(offsets[row + 1] - offsets[row], at) : none;
        }
        for (int run = 2; run <= size; run *= 2)
            for (int by = run / 2; by > 0; by /= 2) {
                __syncthreads();
                for (int pair = static_cast<int>(threadIdx.x); pair < size / 2;
                     pair += block_threads)
                    exchange(2 * pair - (pair & (by - 1)), by, run);
            }
        __syncthreads();
    }

private:
    __device__ void exchange(int at, int by, int run) {
        const bool ascends = (at & run) == 0;
        const atomic_word one = keys[at];
        const atomic_word other = keys[at + by];
        if ((one > other) != ascends) return;
        keys[at] = other;
        keys[at + by] = one;
    }
};

/// The slice columns of a window whose rows are sorted, from the numbers of rows of each length, so
/// that nothing is sorted.
struct counted_window {
    static constexpr int lengths = block_threads; ///< rows of fewer entries only
    unsigned rows_of[lengths];
    unsigned warp_sums[block_warps];

    /// Adds the thread's part to `sum`, unless a row is longer: false then. The whole block calls
    /// it.
    [[nodiscard]] __device__ bool add(const std::int64_t* offsets, std::int64_t rows,
                                      std::int64_t first, atomic_word& sum) {
        __syncthreads(); // readers of the window before
        rows_of[threadIdx.x] = 0;
        __syncthreads();
        bool long_row = false;
        for (int at = static_cast<int>(threadIdx.x); at < sorted_window::size;
             at += block_threads) {
            const std::int64_t row = first + at;
            if (row >= rows) break;
            const std::int64_t length = offsets[row + 1] - offsets[row];
            if (length < lengths)
                atomicAdd(&rows_of[length], 1u);
            else
                long_row = true;
        }
        if (__syncthreads_or(long_row) != 0) return false;
        // Longer rows come first; a slice has the columns of its first row.
        const unsigned length = lengths - 1 - threadIdx.x;
        const unsigned count = rows_of[length];
        unsigned end = warp_running_sum(count);
        if (lane_number() == 31) warp_sums[threadIdx.x / 32] = end;
        __syncthreads();
        for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp) end += warp_sums[warp];
        constexpr auto slice = static_cast<unsigned>(slice_rows);
        sum +=
            atomic_word{length} * ((end + slice - 1) / slice - (end - count + slice - 1) / slice);
        return true;
    }
};

/// Sorts the rows of windows. Either pointer may be null.
__global__ void __launch_bounds__(block_threads)
    sort_windows(const std::int64_t* offsets, std::int64_t rows, std::int32_t* order,
                 atomic_word* slice_columns) {
    __shared__ sorted_window window;
    __shared__ counted_window counted;
    const std::int64_t places = (rows + slice_rows - 1) / slice_rows * slice_rows;
    atomic_word sum = 0;
    for (std::int64_t first = std::int64_t{blockIdx.x} * sort_window; first < rows;
         first += std::int64_t{gridDim.x} * sort_window) {
        if (order == nullptr && counted.add(offsets, rows, first, sum)) continue;
        window.fill(offsets, rows, first);
        for (int at = static_cast<int>(threadIdx.x); at < sorted_window::size;
             at += block_threads) {
            if (first + at >= places) continue;
            const atomic_word key = window.keys[at];
            const bool none = key == sorted_window::none;
            if (order != nullptr)
                order[first + at] =
                    none ? -1 : static_cast<std::int32_t>(first) + sorted_window::place_of(key);
            if (at % slice_rows == 0 && !none) sum += sorted_window::length_of(key);
        }
    }
    if (slice_columns != nullptr && sum != 0) atomicAdd(slice_columns, sum);
}

void launch_sort(device& device, const std::int64_t* offsets, std::int64_t rows,
                 std::int32_t* order, atomic_word* slice_columns) {
    const launch_scope launch(device);
    const auto kernel = sort_windows;
    kernel<<<launch.blocks(kernel, block_threads, (rows + sort_window - 1) / sort_window),
             block_threads, 0, launch.stream()>>>(offsets, rows, order, slice_columns);
    launch.check_launch();
}

} // namespace

length_check measure_lengths(const std::shared_ptr<device>& device, const std::int64_t* offsets,
                             std::int64_t rows) {
    length_check result;
    block_lengths& lengths = result.lengths;
    lengths.rows = rows;
    if (rows == 0) return result;
    const buffer<length_counts> counts(device, 1, "set-up");
    counts.zero();
    {
        const launch_scope launch(*device);
        const auto kernel = count_lengths;
        const std::int64_t slices = (rows + slice_rows - 1) / slice_rows;
        kernel<<<launch.blocks(kernel, block_threads, (slices + block_warps - 1) / block_warps),
                 block_threads, 0, launch.stream()>>>(offsets, rows, counts.data());
        launch.check_launch();
    }
    device->download(&lengths.nonzeros, offsets + rows, sizeof lengths.nonzeros);
    length_counts found = counts.download().front();
    result.descends = found.descends != 0 || lengths.nonzeros < 0;
    if (result.descends) return result;
    lengths.longest = {static_cast<std::int64_t>(low_half - (found.longest & low_half)),
                       static_cast<std::int64_t>(found.longest >> 32)};
    lengths.in_long_rows = static_cast<std::int64_t>(found.in_long_rows);
    lengths.slice_columns = static_cast<std::int64_t>(found.slice_columns);
    lengths.sorted = sell_sorts(lengths.nonzeros, lengths.slice_columns);
    if (!lengths.sorted) return result;
    launch_sort(*device, offsets, rows, nullptr, &counts.data()->sorted_slice_columns);
    found = counts.download().front();
    lengths.slice_columns = static_cast<std::int64_t>(found.sorted_slice_columns);
    return result;
}

void order_rows(device& device, const std::int64_t* offsets, std::int64_t rows,
                std::int32_t* order) {
    if (rows != 0) launch_sort(device, offsets, rows, order, nullptr);
}

} // namespace krylith::cuda
