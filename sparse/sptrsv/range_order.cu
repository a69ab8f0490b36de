// Rows by ranges that are known not to be coupled within, as those of colours.
#include <bit>
#include <span>

#include <cub/block/block_radix_sort.cuh>

#include <krylith/sparse/sptrsv/level_order.hpp>

#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

namespace {

constexpr std::int64_t longest_ranged = 64;
constexpr int length_bits = level_key::length_bits;

/// A row, the range that it is in, and the entries that it waits for.
struct ranged_row {
    std::int64_t row = 0;
    std::int32_t level = 0;
    std::int32_t length = 0;
    bool fits = true;
};

/// Finds the row at a place: ranges in the order of solving, rows ascending in each.
template <class T>
__device__ inline ranged_row row_at_place(const triangle_source<T>& a, const std::int64_t* begins,
                                          int ranges, std::int64_t place) {
    const std::int64_t from_front = a.upper ? a.rows - 1 - place : place;
    int low = 0; // the last range that begins at or before that
    int high = ranges;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        (begins[middle] <= from_front ? low : high) = middle;
    }
    const std::int64_t begin = begins[low];
    const std::int64_t end = begins[low + 1];
    ranged_row found;
    found.row = a.upper ? begin + (end - 1 - from_front) : place;
    found.level = a.upper ? ranges - 1 - low : low;
    const std::int64_t first = a.offsets[found.row];
    const std::int64_t last = a.offsets[found.row + 1];
    if (last - first > longest_ranged) {
        found.fits = false;
        return found;
    }
    for (std::int64_t k = first; k < last; ++k) {
        const std::int32_t column = a.indices[k];
        if (!a.depends(found.row, column)) continue;
        ++found.length;
        if (a.upper ? column < end : column >= begin) found.fits = false;
    }
    if (found.length > level_key::most_short) {
        found.length = level_key::most_short;
        found.fits = false;
    }
    return found;
}

/// A block sorts a window of as many places as it has threads by level and length.
template <class T>
__global__ void __launch_bounds__(block_threads)
    order_windows(triangle_source<T> a, const std::int64_t* begins, int ranges, int bits,
                  std::uint32_t* keys, std::int32_t* order, unsigned* unfit) {
    using sort = cub::BlockRadixSort<std::uint32_t, block_threads, 1, std::int32_t>;
    __shared__ typename sort::TempStorage storage;
    bool fits = true;
    const std::int64_t windows = (a.rows + block_threads - 1) / block_threads;
    for (std::int64_t window = blockIdx.x; window < windows; window += gridDim.x) {
        const std::int64_t place = window * block_threads + threadIdx.x;
        std::uint32_t key[1] = {~0u}; // behind all rows: equal keys keep their order
        std::int32_t row[1] = {0};
        if (place < a.rows) {
            const ranged_row found = row_at_place(a, begins, ranges, place);
            fits = fits && found.fits;
            key[0] = static_cast<std::uint32_t>(found.level) << length_bits |
                     static_cast<std::uint32_t>(found.length);
            row[0] = static_cast<std::int32_t>(found.row);
        }
        sort(storage).Sort(key, row, 0, bits);
        __syncthreads(); // before the storage is used again
        if (place >= a.rows) continue;
        keys[place] =
            level_key::short_row(static_cast<std::int32_t>(key[0] >> length_bits),
                                 static_cast<std::int32_t>(key[0] & ((1u << length_bits) - 1)));
        order[place] = row[0];
    }
    if (__any_sync(all_lanes, !fits) != 0 && lane_number() == 0) *unfit = 1;
}

} // namespace

template <class T>
std::optional<level_order> order_by_ranges(const std::shared_ptr<device>& device,
                                           const triangle_source<T>& a,
                                           const std::vector<std::int64_t>& ranges) {
    const auto count = static_cast<std::int64_t>(ranges.size()) - 1;
    if (a.rows == 0 || count < 1 || count > level_key::most_levels) return std::nullopt;
    const auto rows = static_cast<std::size_t>(a.rows);
    level_order result;
    result.levels = count;
    result.carries_lengths = true;
    result.keys = {device, rows, analysis_item};
    result.order = {device, rows, analysis_item};
    const buffer<std::int64_t> begins(device, std::span<const std::int64_t>(ranges), analysis_item);
    const buffer<unsigned> unfit(device, 1, analysis_item);
    unfit.zero();
    const int bits = length_bits + std::bit_width(static_cast<std::uint32_t>(count - 1));
    launch_over(*device, a.rows, order_windows<T>, a, begins.data(), static_cast<int>(count), bits,
                result.keys.data(), result.order.data(), unfit.data());
    if (unfit.download().front() != 0) return std::nullopt;
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::optional<level_order> order_by_ranges(const std::shared_ptr<device>&,            \
                                                        const triangle_source<T>&,                 \
                                                        const std::vector<std::int64_t>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
