#include <krylith/distributed/source/device_assembly.hpp>

#include <bit>
#include <string>
#include <utility>

#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/distributed/source/memory_items.hpp>

namespace krylith::cuda {

namespace {

/// A place of the matrix as a number that ascends with its row, then its column.
[[nodiscard]] __device__ inline std::uint64_t place_of(std::int64_t row, std::int32_t column) {
    return static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint32_t>(column);
}
[[nodiscard]] __device__ inline std::int64_t row_of_place(std::uint64_t place) {
    return static_cast<std::int64_t>(place >> 32);
}

struct entry_counts {
    atomic_word kept;     ///< entries that are not left out
    atomic_word nonzeros; ///< places
    unsigned bad;         ///< not 0: one is out of range
};

struct entry_source {
    const std::int32_t* rows;
    const std::int32_t* columns;
    std::int64_t count;
    std::int64_t first_row;
    std::int64_t row_count;
    std::int64_t column_count;
};

/// Entries that are left out get a row after all others.
__global__ void __launch_bounds__(block_threads)
    store_places(const __grid_constant__ entry_source from, std::uint64_t* places,
                 std::int32_t* entries, entry_counts* counts) {
    atomic_word kept = 0;
    for (std::int64_t k = first_item(); k < from.count; k += item_stride()) {
        const std::int32_t column = from.columns[k];
        const std::int64_t row = std::int64_t{from.rows[k]} - from.first_row;
        entries[k] = static_cast<std::int32_t>(k);
        if (from.rows[k] < 0 || column < 0) {
            places[k] = place_of(from.row_count, 0);
            continue;
        }
        ++kept;
        if (row < 0 || row >= from.row_count || column >= from.column_count)
            atomicOr(&counts->bad, 1u);
        places[k] = place_of(row, column);
    }
    if (kept != 0) atomicAdd(&counts->kept, kept);
}

/// Whether a place of the sorted list is the first of its group.
[[nodiscard]] __device__ inline bool leads(const std::uint64_t* places, std::int64_t k) {
    return k == 0 || places[k] != places[k - 1];
}

__global__ void __launch_bounds__(block_threads)
    count_places(const std::uint64_t* places, std::int64_t kept, entry_counts* counts) {
    atomic_word found = 0;
    for (std::int64_t k = first_item(); k < kept; k += item_stride())
        found += leads(places, k) ? 1 : 0;
    if (found != 0) atomicAdd(&counts->nonzeros, found);
}

/// The places of the sorted list for the scan.
struct grouped_places {
    struct item {
        std::int32_t size;
        std::int32_t column;
    };
    const std::uint64_t* places;
    std::uint32_t kept;
    std::int32_t* first;
    std::int32_t* columns;

    [[nodiscard]] __device__ std::uint32_t count() const { return kept; }
    [[nodiscard]] __device__ item load(std::uint32_t k) const {
        return {leads(places, k) ? 1 : 0, static_cast<std::int32_t>(places[k] & 0xffffffffu)};
    }
    __device__ void emit(bool there, std::uint32_t k, item place, std::int32_t before) const {
        if (!there || place.size == 0) return;
        first[before] = static_cast<std::int32_t>(k);
        columns[before] = place.column;
    }
    __device__ void finish(std::int32_t sum) const { first[sum] = static_cast<std::int32_t>(kept); }
};

/// Finds the first nonzero of each row.
__global__ void __launch_bounds__(block_threads)
    find_rows(const std::uint64_t* places, const std::int32_t* first, std::int64_t nonzeros,
              std::int64_t rows, std::int64_t* offsets) {
    for (std::int64_t row = first_item(); row <= rows; row += item_stride()) {
        std::int64_t low = 0;
        std::int64_t high = nonzeros;
        while (low < high) {
            const std::int64_t middle = low + (high - low) / 2;
            if (row_of_place(places[first[middle]]) < row)
                low = middle + 1;
            else
                high = middle;
        }
        offsets[row] = low;
    }
}

/// Sorts the places, and the entries along with them, which stay in order where places are equal.
void sort_places(const std::shared_ptr<device>& device, cub::DoubleBuffer<std::uint64_t>& places,
                 cub::DoubleBuffer<std::int32_t>& entries, std::int64_t count, std::int64_t rows) {
    const int bits = 32 + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows)));
    const launch_scope launch(*device);
    std::size_t bytes = 0;
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, places, entries, count, 0,
                                                       bits, launch.stream()));
    const buffer<std::byte> scratch(device, bytes, "set-up");
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch.data(), bytes, places, entries,
                                                       count, 0, bits, launch.stream()));
}

} // namespace

std::optional<device_assembly> assemble_there(const std::shared_ptr<device>& device,
                                              const std::int32_t* row_indices,
                                              const std::int32_t* column_indices,
                                              std::int64_t entries, row_range rows,
                                              std::int64_t columns) {
    const std::string item = "set-up";
    const auto size = static_cast<std::size_t>(entries);
    device_assembly result;
    result.offsets =
        buffer<std::int64_t>(device, static_cast<std::size_t>(rows.size()) + 1, matrix_item);
    result.offsets.zero();
    if (entries == 0) return result;
    const buffer<std::uint64_t> places[2] = {{device, size, item}, {device, size, item}};
    buffer<std::int32_t> numbers[2] = {{device, size, item}, {device, size, "assembly"}};
    const buffer<entry_counts> counted(device, 1, item);
    counted.zero();
    launch_over(
        *device, entries, store_places,
        entry_source{row_indices, column_indices, entries, rows.begin, rows.size(), columns},
        places[0].data(), numbers[0].data(), counted.data());
    entry_counts counts = counted.download().front();
    if (counts.bad != 0) return std::nullopt;
    cub::DoubleBuffer<std::uint64_t> keys(places[0].data(), places[1].data());
    cub::DoubleBuffer<std::int32_t> values(numbers[0].data(), numbers[1].data());
    sort_places(device, keys, values, entries, rows.size());
    const std::uint64_t* const sorted = keys.Current();
    const auto kept = static_cast<std::int64_t>(counts.kept);
    launch_over(*device, kept, count_places, sorted, kept, counted.data());
    counts = counted.download().front();
    const auto nonzeros = static_cast<std::int64_t>(counts.nonzeros);
    result.first = buffer<std::int32_t>(device, static_cast<std::size_t>(nonzeros) + 1, "assembly");
    result.columns = buffer<std::int32_t>(device, static_cast<std::size_t>(nonzeros), matrix_item);
    if (kept != 0) {
        const buffer<std::byte> scratch(device, scan_scratch_bytes, item);
        scan(*device,
             grouped_places{sorted, static_cast<std::uint32_t>(kept), result.first.data(),
                            result.columns.data()},
             kept, scratch.data());
        launch_over(*device, rows.size() + 1, find_rows, sorted, result.first.data(), nonzeros,
                    rows.size(), result.offsets.data());
    }
    result.order = buffer<std::int32_t>(device, static_cast<std::size_t>(kept), "assembly");
    if (kept != 0)
        device->copy(result.order.data(), values.Current(),
                     static_cast<std::size_t>(kept) * sizeof(std::int32_t));
    device->synchronize(); // before what was sorted is given back
    if (nonzeros == kept) result.first = {};
    return result;
}

} // namespace krylith::cuda
