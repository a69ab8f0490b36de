// Rows of a triangle sorted by level.
#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/sptrsv/awaited_rows.hpp>
#include <krylith/sparse/sptrsv/chain_starts.hpp>
#include <krylith/sparse/sptrsv/level_order.hpp>
#include <krylith/sparse/sptrsv/level_sweep.cuh>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>

namespace krylith::cuda {

namespace {

struct sweep_counters {
    unsigned ticket;
    int highest;      ///< level + 1
    unsigned falls;   ///< whether a row has a lower key than the row before
    unsigned crowded; ///< whether a row waits for too many rows to be listed
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    sweep_levels(triangle_source<T> a, std::int32_t* levels, std::int32_t* lengths,
                 sweep_counters* counters, const std::int32_t* starts, std::int64_t chains) {
    level_work work{levels, lengths};
    sweep_rows<16>(a, work, &counters->ticket, starts, chains);
    const int highest = __reduce_max_sync(all_lanes, work.highest);
    if (lane_number() == 0 && highest != 0) atomicMax(&counters->highest, highest);
}

__global__ void __launch_bounds__(block_threads)
    make_keys(const std::int32_t* levels, const std::int32_t* lengths, std::int64_t rows,
              const int* highest, std::uint32_t* keys, std::int32_t* order, unsigned* falls) {
    const bool carries = *highest <= level_key::most_levels;
    bool descends = false;
    for (std::int64_t i = first_item(); i < rows; i += item_stride()) {
        const std::uint32_t key = level_key::of(levels[i] - 1, lengths[i], carries);
        keys[i] = key;
        order[i] = static_cast<std::int32_t>(i);
        if (i == 0) continue;
        const std::uint32_t before = level_key::of(levels[i - 1] - 1, lengths[i - 1], false);
        descends = descends || before > level_key::sorted(key, carries);
    }
    if (__any_sync(all_lanes, descends) != 0 && lane_number() == 0) *falls = 1;
}

__global__ void __launch_bounds__(block_threads)
    invert(const std::int32_t* order, std::int64_t rows, std::int32_t* places) {
    for (std::int64_t i = first_item(); i < rows; i += item_stride())
        places[order[i]] = static_cast<std::int32_t>(i);
}

__global__ void __launch_bounds__(block_threads)
    find_first_places(const std::uint32_t* keys, bool carries, std::int64_t rows,
                      std::int64_t* first) {
    for (std::int64_t i = first_item(); i < rows; i += item_stride()) {
        const std::uint32_t level = level_key::level(keys[i], carries);
        if (i == 0 || level_key::level(keys[i - 1], carries) != level) first[level] = i;
    }
}

/// Sorts rows by key; rows of equal keys keep their order.
void sort_rows(const std::shared_ptr<device>& device, level_order& result, std::int64_t rows,
               int bits) {
    buffer<std::uint32_t> keys(device, static_cast<std::size_t>(rows), analysis_item);
    buffer<std::int32_t> order(device, static_cast<std::size_t>(rows), analysis_item);
    cub::DoubleBuffer<std::uint32_t> both_keys(result.keys.data(), keys.data());
    cub::DoubleBuffer<std::int32_t> both_orders(result.order.data(), order.data());
    const launch_scope launch(*device);
    std::size_t bytes = 0;
    const auto sort = [&](void* scratch) {
        KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_orders,
                                                           rows, 0, bits, launch.stream()));
    };
    sort(nullptr);
    const buffer<std::byte> scratch(device, bytes, analysis_item);
    sort(scratch.data());
    if (both_keys.Current() == keys.data()) result.keys.swap(keys);
    if (both_orders.Current() == order.data()) result.order.swap(order);
}

/// Finds the levels + 1 of rows, which are 0, and the strict entries of each.
template <class T>
void find_levels(const std::shared_ptr<device>& device, const triangle_source<T>& a,
                 const chain_starts& chains, int blocks_each, std::int32_t* levels,
                 std::int32_t* lengths, sweep_counters* counters) {
    // Where most rows begin a chain there is nothing to leave out.
    if (2 * chains.count <= a.rows) {
        const buffer<awaited_rows> awaited(device, static_cast<std::size_t>(a.rows), analysis_item);
        find_awaited_rows(*device, a, chains.starts.data(), awaited.data(), lengths,
                          &counters->crowded);
        unsigned crowded = 0;
        device->download(&crowded, &counters->crowded, sizeof crowded);
        if (crowded == 0)
            return sweep_awaited(*device, a.rows, a.upper, awaited.data(), chains.places.data(),
                                 chains.count, levels, &counters->ticket, &counters->highest);
    }
    const launch_scope launch(*device);
    const auto blocks =
        static_cast<unsigned>(static_cast<cuda_device&>(*device).multiprocessors()) *
        static_cast<unsigned>(blocks_each);
    sweep_levels<<<blocks, block_threads, 0, launch.stream()>>>(a, levels, lengths, counters,
                                                                chains.places.data(), chains.count);
    launch.check_launch();
}

} // namespace

template <class T>
level_order order_by_level(const std::shared_ptr<device>& device, const triangle_source<T>& a,
                           int blocks_each) {
    const auto rows = static_cast<std::size_t>(a.rows);
    level_order result;
    result.lengths = {device, rows, analysis_item};
    result.keys = {device, rows, analysis_item};
    result.order = {device, rows, analysis_item};
    if (rows == 0) return result;
    const buffer<std::int32_t> levels(device, rows, analysis_item);
    levels.zero();
    const buffer<sweep_counters> counters(device, 1, analysis_item);
    counters.zero();
    const chain_starts chains = find_chains(device, a);
    triangle_source<T> sorted = a;
    sorted.sorted = chains.sorted;
    find_levels(device, sorted, chains, blocks_each, levels.data(), result.lengths.data(),
                counters.data());
    launch_over(*device, a.rows, make_keys, levels.data(), result.lengths.data(), a.rows,
                &counters.data()->highest, result.keys.data(), result.order.data(),
                &counters.data()->falls);
    const sweep_counters found = counters.download().front();
    result.levels = found.highest;
    result.carries_lengths = found.highest <= level_key::most_levels;
    result.natural = found.falls == 0;
    if (result.natural) {
        result.order = {};
        return result;
    }
    sort_rows(device, result, a.rows,
              std::bit_width(static_cast<std::uint32_t>(found.highest)) + length_class::bits);
    result.places = {device, rows, analysis_item};
    launch_over(*device, a.rows, invert, result.order.data(), a.rows, result.places.data());
    return result;
}

template <class T>
std::int64_t count_levels(const std::shared_ptr<device>& device, const triangle_source<T>& a) {
    if (a.rows == 0) return 0;
    const auto rows = static_cast<std::size_t>(a.rows);
    const buffer<std::int32_t> levels(device, rows, analysis_item);
    levels.zero();
    const buffer<std::int32_t> lengths(device, rows, analysis_item);
    const buffer<sweep_counters> counters(device, 1, analysis_item);
    counters.zero();
    const chain_starts chains = find_chains(device, a);
    triangle_source<T> sorted = a;
    sorted.sorted = chains.sorted;
    find_levels(device, sorted, chains, 2, levels.data(), lengths.data(), counters.data());
    return counters.download().front().highest;
}

std::vector<std::int64_t> first_places(const std::shared_ptr<device>& device,
                                       const level_order& order) {
    const auto rows = static_cast<std::int64_t>(order.keys.size());
    const buffer<std::int64_t> first(device, static_cast<std::size_t>(order.levels), analysis_item);
    launch_over(*device, rows, find_first_places, order.keys.data(), order.carries_lengths, rows,
                first.data());
    std::vector<std::int64_t> result = first.download();
    result.push_back(rows);
    return result;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<order_by_level<T>, count_levels<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
