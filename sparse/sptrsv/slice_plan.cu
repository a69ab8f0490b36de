// Slices of rows in the order of levels, and their entries. A warp takes a window of 32 places, or
// a slice.
#include <cub/device/device_scan.cuh>

#include <krylith/sparse/sptrsv/level_order.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

namespace {

constexpr const char* slices_item = "triangle in slices";
constexpr int entries_at_once = 8; // entries that a lane loads at once

/// How many slices and steps come before a window; or how many it has.
struct window_totals {
    std::int64_t slices;
    std::int64_t steps;
};

struct add_totals {
    __host__ __device__ window_totals operator()(const window_totals& a,
                                                 const window_totals& b) const {
        return {a.slices + b.slices, a.steps + b.steps};
    }
};

/// An order of rows as kernels take it.
struct places_of_rows {
    const std::uint32_t* keys;
    const std::int32_t* order; ///< null: places are rows
    const std::int32_t* lengths;
    std::int64_t rows;
    bool carries;   ///< whether keys carry lengths
    bool one_level; ///< whether a slice must be of one level
};

/// The slices of a window of 32 places: a slice ends with the window, where the class changes,
/// where the level changes if rows have several lanes or a slice must be of one level, and where
/// its lanes are all taken.
struct window_slices {
    unsigned heads = 0; ///< bit set: a slice begins at this place of the window
    int lanes = 1;      ///< of the lane's row
    int steps = 0;      ///< of the slice that begins at the lane's place

    __device__ window_slices(const places_of_rows& by, std::int64_t window) {
        const int lane = lane_number();
        const std::int64_t rows = by.rows;
        const std::int64_t place = window * 32 + lane;
        const bool there = place < rows;
        const std::uint32_t whole = there ? by.keys[place] : ~0u;
        const std::uint32_t key = there ? level_key::sorted(whole, by.carries) : ~0u;
        const unsigned number = level_key::number(key);
        lanes = there ? length_class::lanes(number) : 1;
        const std::uint32_t before = __shfl_up_sync(all_lanes, key, 1);
        const bool levels_matter = by.one_level || lanes > 1;
        const bool begins =
            lane == 0 ||
            (levels_matter ? before != key : (before ^ key) << (32 - length_class::bits) != 0);
        const unsigned runs = __ballot_sync(all_lanes, begins || !there);
        const unsigned upto = runs & (~0u >> (31 - lane));
        const int run = 31 - __clz(static_cast<int>(upto));
        const int rows_each = 32 / lanes;
        heads = __ballot_sync(all_lanes, there && (lane - run) % rows_each == 0);
        int length = 0;
        if (there)
            length = by.carries && number < 2
                         ? level_key::length(whole)
                         : by.lengths[by.order != nullptr ? by.order[place] : place];
        const int own = (length + lanes - 1) / lanes;
        const unsigned after = lane == 31 ? 0 : heads >> (lane + 1);
        const int end = min(after == 0 ? 32 : lane + __ffs(static_cast<int>(after)),
                            static_cast<int>(min(std::int64_t{32}, rows - window * 32)));
        const bool one_slice = (heads & (heads - 1)) == 0;
        if (one_slice) steps = __reduce_max_sync(all_lanes, own);
        for (int other = one_slice ? 32 : 0; other < 32; ++other) {
            const int theirs = __shfl_sync(all_lanes, own, other);
            if (other >= lane && other < end) steps = max(steps, theirs);
        }
        if ((heads >> lane & 1) == 0) steps = 0;
    }
};

__global__ void __launch_bounds__(block_threads)
    count_slices(places_of_rows by, window_totals* totals) {
    const std::int64_t windows = (by.rows + 31) / 32;
    for (std::int64_t w = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; w < windows;
         w += std::int64_t{gridDim.x} * block_warps) {
        const window_slices own(by, w);
        const std::int64_t steps = warp_sum(std::int64_t{own.steps});
        if (lane_number() == 0) totals[w] = {__popc(own.heads), steps};
    }
}

/// totals[w] are those before window w; there is one more for the end.
__global__ void __launch_bounds__(block_threads)
    write_heads(places_of_rows by, const window_totals* totals, triangle_slice* heads) {
    const std::int64_t windows = (by.rows + 31) / 32;
    for (std::int64_t w = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; w < windows;
         w += std::int64_t{gridDim.x} * block_warps) {
        const window_slices own(by, w);
        const int lane = lane_number();
        const std::int64_t before = warp_running_sum(std::int64_t{own.steps}) - own.steps;
        if ((own.heads >> lane & 1) != 0)
            heads[totals[w].slices + __popc(own.heads & ((1u << lane) - 1))] = {
                totals[w].steps + before, static_cast<std::int32_t>(w * 32 + lane), own.lanes};
        if (w + 1 == windows && lane == 0)
            heads[totals[windows].slices] = {totals[windows].steps,
                                             static_cast<std::int32_t>(by.rows), 1};
    }
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    store_slice_entries(triangle_source<T> a, std::int64_t slices, const triangle_slice* heads,
                        const std::int32_t* order, const std::int32_t* places,
                        std::int32_t* columns, T* values, T* pivots, unsigned* bad_row) {
    const int lane = lane_number();
    for (std::int64_t s = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; s < slices;
         s += std::int64_t{gridDim.x} * block_warps) {
        const triangle_slice head = heads[s];
        const triangle_slice after = heads[s + 1];
        const int lanes = head.lanes;
        const int lane_bits = __ffs(lanes) - 1;
        const int own = lane & (lanes - 1);
        const int first = lane - own;
        const std::int64_t place = head.place + (lane >> lane_bits);
        const bool there = place < after.place;
        const std::int64_t row = !there ? -2 : order != nullptr ? order[place] : place;
        std::int64_t k = there ? a.offsets[row] + own : 0;
        const std::int64_t end = there ? a.offsets[row + 1] : 0;
        const std::int64_t steps = after.step - head.step;
        const unsigned group = lanes == 32 ? all_lanes : ((1u << lanes) - 1) << first;
        std::int64_t taken = 0;
        T pivot = 0;
        while (__any_sync(all_lanes, k < end) != 0) {
            std::int32_t found[entries_at_once];
            std::int32_t to_column[entries_at_once];
            T entries[entries_at_once];
#pragma unroll
            for (int u = 0; u < entries_at_once; ++u)
                found[u] = k + u * lanes < end ? a.indices[k + u * lanes] : -1;
#pragma unroll
            for (int u = 0; u < entries_at_once; ++u) {
                const bool counts = found[u] >= 0 && a.depends(row, found[u]);
                if (counts || found[u] == row) entries[u] = a.values[k + u * lanes];
                if (counts && columns != nullptr)
                    to_column[u] = places != nullptr ? places[found[u]] : found[u];
            }
#pragma unroll
            for (int u = 0; u < entries_at_once; ++u) {
                const bool counts = found[u] >= 0 && a.depends(row, found[u]);
                if (found[u] == row) pivot += entries[u];
                const unsigned mask = __ballot_sync(all_lanes, counts) & group;
                if (counts) {
                    const std::int64_t number = taken + __popc(mask & ((1u << lane) - 1));
                    const std::int64_t to =
                        (head.step + (number >> lane_bits)) * 32 + first + (number & (lanes - 1));
                    if (columns != nullptr) columns[to] = to_column[u];
                    values[to] = entries[u];
                }
                taken += __popc(mask);
            }
            k += entries_at_once * lanes;
        }
        if (columns != nullptr)
            for (std::int64_t number = taken + own; number < steps * lanes; number += lanes) {
                const std::int64_t to =
                    (head.step + (number >> lane_bits)) * 32 + first + (number & (lanes - 1));
                columns[to] = -1;
                values[to] = 0;
            }
        if (pivots == nullptr) continue;
        for (int by = lanes / 2; by > 0; by /= 2) pivot += __shfl_xor_sync(all_lanes, pivot, by);
        if (!there || own != 0) continue;
        pivots[place] = pivot;
        if (pivot == T{0}) atomicMin(bad_row, static_cast<unsigned>(row));
    }
}

__global__ void __launch_bounds__(block_threads)
    find_slices(const triangle_slice* heads, std::int64_t slices, std::int64_t count,
                std::int64_t* places) {
    for (std::int64_t i = first_item(); i < count; i += item_stride()) {
        std::int64_t low = 0; // the first slice whose place isn't lower
        std::int64_t high = slices;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (heads[middle].place < places[i])
                low = middle + 1;
            else
                high = middle;
        }
        places[i] = low;
    }
}

/// The blocks for so many warps.
std::int64_t blocks_of_warps(std::int64_t warps) {
    return (warps + block_warps - 1) / block_warps;
}

} // namespace

slice_plan plan_slices(const std::shared_ptr<device>& device, const level_order& order,
                       bool one_level) {
    slice_plan plan;
    const auto rows = static_cast<std::int64_t>(order.keys.size());
    if (rows == 0) return plan;
    const std::int64_t windows = (rows + 31) / 32;
    const buffer<window_totals> counts(device, static_cast<std::size_t>(windows) + 1, slices_item);
    const buffer<window_totals> before(device, static_cast<std::size_t>(windows) + 1, slices_item);
    const places_of_rows by{order.keys.data(),     order.order.data(), order.lengths.data(), rows,
                            order.carries_lengths, one_level};
    launch_blocks(*device, blocks_of_warps(windows), count_slices, by, counts.data());
    device->zero(counts.data() + windows, sizeof(window_totals));
    {
        const launch_scope launch(*device);
        std::size_t bytes = 0;
        const auto scan = [&](void* scratch) {
            KRYLITH_CUDA_CHECK(cub::DeviceScan::ExclusiveScan(
                scratch, bytes, counts.data(), before.data(), add_totals{}, window_totals{0, 0},
                windows + 1, launch.stream()));
        };
        scan(nullptr);
        const buffer<std::byte> scratch(device, bytes, slices_item);
        scan(scratch.data());
    }
    window_totals all{};
    device->download(&all, before.data() + windows, sizeof all);
    plan.slices = all.slices;
    plan.steps = all.steps;
    plan.heads = {device, static_cast<std::size_t>(all.slices) + 1, slices_item};
    launch_blocks(*device, blocks_of_warps(windows), write_heads, by, before.data(),
                  plan.heads.data());
    return plan;
}

std::vector<std::int64_t> slices_at(const std::shared_ptr<device>& device, const slice_plan& plan,
                                    const std::vector<std::int64_t>& places) {
    const buffer<std::int64_t> found(device, std::span<const std::int64_t>(places), slices_item);
    const auto count = static_cast<std::int64_t>(places.size());
    launch_over(*device, count, find_slices, plan.heads.data(), plan.slices, count, found.data());
    return found.download();
}

template <class T>
void fill_slices(device& device, const triangle_source<T>& a, const slice_plan& plan,
                 const std::int32_t* order, const std::int32_t* places, std::int32_t* columns,
                 T* values, T* pivots, unsigned* bad_row) {
    launch_blocks(device, blocks_of_warps(plan.slices), store_slice_entries<T>, a, plan.slices,
                  plan.heads.data(), order, places, columns, values, pivots, bad_row);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void fill_slices(device&, const triangle_source<T>&, const slice_plan&,               \
                              const std::int32_t*, const std::int32_t*, std::int32_t*, T*, T*,     \
                              unsigned*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
