// SELL made on a CUDA device, with a warp for each slice: first the codes and lengths of all
// slices, then, where a scan has found their places, the steps and columns.
#include <krylith/sparse/sell/device_sell.hpp>

#include <limits>
#include <string>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/sell/slice_pattern.cuh>

namespace krylith::cuda {

namespace {

struct slice_totals {
    atomic_word steps; ///< of slices that are not wide
    atomic_word chunks;
    atomic_word triples; ///< slice-columns of slices with triples
};

/// Calls body(slice) for each slice with a warp.
template <class Body>
__device__ inline void for_each_slice(std::int32_t slices, Body body) {
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t s = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32; s < slices;
         s += warps)
        body(static_cast<std::int32_t>(s));
}

__global__ void __launch_bounds__(block_threads)
    choose_codes(const __grid_constant__ slice_source from, slice_head* heads, slice_totals* totals,
                 bool with_triples) {
    __shared__ row_tile<std::int32_t> tiles[block_warps];
    atomic_word steps = 0;
    atomic_word chunks = 0;
    atomic_word triples = 0;
    for_each_slice(from.slices, [&](std::int32_t s) {
        slice_pattern slice(from, s, tiles[threadIdx.x / 32]);
        const column_code code = slice.code(with_triples);
        if (lane_number() == 0) heads[s] = {0, 0, slice_shape(slice.longest, code), 0};
        steps += static_cast<atomic_word>(steps_of(code, slice.longest));
        chunks += static_cast<atomic_word>(chunks_of(code, slice.longest));
        if (code == column_code::triples) triples += static_cast<atomic_word>(slice.longest);
    });
    if (lane_number() != 0) return;
    if (steps != 0) atomicAdd(&totals->steps, steps);
    if (triples != 0) atomicAdd(&totals->triples, triples);
    if (chunks != 0) atomicAdd(&totals->chunks, chunks);
}

/// The sizes of slices for the scan: chunks in the upper half, slice-columns in the lower.
struct slice_places {
    struct item {
        atomic_word size;
    };
    slice_head* heads;
    std::uint32_t slices;

    [[nodiscard]] __device__ std::uint32_t count() const { return slices; }
    [[nodiscard]] __device__ item load(std::uint32_t s) const {
        const slice_head head = heads[s];
        const auto length = static_cast<atomic_word>(head.length());
        return {static_cast<atomic_word>(chunks_of(head.code(), head.length())) << 32 | length};
    }
    __device__ void emit(bool there, std::uint32_t s, item, atomic_word before) const {
        if (!there) return;
        heads[s].first = static_cast<std::uint32_t>(before);
        heads[s].read = heads[s].first;
        heads[s].columns = static_cast<std::uint32_t>(before >> 32);
    }
    __device__ void finish(atomic_word) const {}
};

__global__ void __launch_bounds__(block_threads)
    store_columns(const __grid_constant__ slice_source from, const slice_head* heads,
                  slice_step* steps, std::byte* stored) {
    __shared__ row_tile<std::int32_t> tiles[block_warps];
    const int lane = lane_number();
    for_each_slice(from.slices, [&](std::int32_t s) {
        slice_pattern slice(from, s, tiles[threadIdx.x / 32]);
        const slice_head head = heads[s];
        slice_step* const step = steps + head.first; // there are none if all slices are wide
        std::byte* const to = stored + std::int64_t{head.columns} * column_chunk;
        if (head.code() == column_code::diagonal) {
            if (slice.walk_full_diagonals([&](std::int32_t k, std::int32_t diagonal) {
                    if (lane == 0) step[k] = {diagonal, all_lanes};
                }))
                return;
            (void)slice.walk_diagonals([&](std::int32_t k, std::int32_t diagonal, unsigned lanes) {
                if (lane == 0) step[k] = {diagonal, lanes};
            });
            return;
        }
        const std::int32_t group = head.code() == column_code::triples ? 3 : 1;
        for (std::int32_t k = 0; k < slice.longest; k += group) {
            const std::int32_t column = slice.column(k);
            const std::int64_t at = std::int64_t{k / group} * slice_rows + lane;
            if (head.code() == column_code::wide) {
                reinterpret_cast<std::int32_t*>(to)[at] = slice.has_entry(k) ? column : -1;
                if (steps != nullptr && lane == 0) step[k] = {0, 0};
                continue;
            }
            const slice_pattern::extent e = slice.extent_of(k, column);
            reinterpret_cast<std::uint16_t*>(to)[at] =
                slice.has_entry(k) ? static_cast<std::uint16_t>(column - e.low) : std::uint16_t{0};
            if (lane == 0) step[k / group] = {e.low, e.lanes};
        }
        // The steps that triples don't need are 0, as on the host.
        for (std::int32_t k = steps_of(head.code(), slice.longest) + lane;
             group == 3 && k < slice.longest; k += 32)
            step[k] = {0, 0};
    });
}

void check_fits(const char* what, std::int64_t count,
                std::int64_t most = std::numeric_limits<std::uint32_t>::max()) {
    if (count > most)
        throw input_error("format sell: " + std::string(what) + " of a device are " +
                          std::to_string(count) + ", allowed are 0 to " + std::to_string(most));
}

template <class Kernel, class... Arguments>
void launch_slices(device& device, Kernel kernel, const slice_source& from,
                   const Arguments&... arguments) {
    const launch_scope launch(device);
    kernel<<<launch.blocks(kernel, block_threads, (from.slices + block_warps - 1) / block_warps),
             block_threads, 0, launch.stream()>>>(from, arguments...);
    launch.check_launch();
}

} // namespace

device_sell make_device_sell(const std::shared_ptr<device>& device, const device_pattern& pattern) {
    const std::string item = "matrix";
    const block_lengths& lengths = pattern.lengths;
    check_fits("slice-columns (32 entries each)", lengths.slice_columns);
    check_fits("the entries of a row", lengths.longest.nonzeros, longest_slice);
    device_sell result{{}, {}, {}, {}, lengths.slice_columns, 0, 0};
    const std::int64_t slices = (lengths.rows + slice_rows - 1) / slice_rows;
    if (slices == 0) return result;
    if (lengths.sorted) {
        result.rows =
            buffer<std::int32_t>(device, static_cast<std::size_t>(slices * slice_rows), item);
        order_rows(*device, pattern.offsets, lengths.rows, result.rows.data());
    }
    const slice_source from = {pattern.offsets, pattern.columns, result.rows.data(), lengths.rows,
                               static_cast<std::int32_t>(slices)};
    result.heads = buffer<slice_head>(device, static_cast<std::size_t>(slices), item);
    const buffer<slice_totals> counted(device, 1, "set-up");
    const auto choose = [&](bool with_triples) {
        counted.zero();
        launch_slices(*device, choose_codes, from, result.heads.data(), counted.data(),
                      with_triples);
        return counted.download().front();
    };
    slice_totals totals = choose(true);
    if (totals.triples != 0 &&
        !worth_triples(static_cast<std::int64_t>(totals.triples), lengths.slice_columns))
        totals = choose(false);
    check_fits("chunks of stored columns (64 bytes each)",
               static_cast<std::int64_t>(totals.chunks));
    const buffer<std::byte> scratch(device, scan_scratch_bytes_of<atomic_word>, "set-up");
    scan(*device, slice_places{result.heads.data(), static_cast<std::uint32_t>(slices)}, slices,
         scratch.data());
    result.used_steps = static_cast<std::int64_t>(totals.steps);
    result.triples = static_cast<std::int64_t>(totals.triples);
    if (totals.steps != 0)
        result.steps =
            buffer<slice_step>(device, static_cast<std::size_t>(lengths.slice_columns), item);
    result.stored = buffer<std::byte>(
        device, static_cast<std::size_t>(totals.chunks) * static_cast<std::size_t>(column_chunk),
        item);
    launch_slices(*device, store_columns, from, result.heads.data(), result.steps.data(),
                  result.stored.data());
    device->synchronize(); // before scratch memory is given back
    return result;
}

} // namespace krylith::cuda

namespace krylith {

std::int64_t device_sell::bytes(std::int64_t value_bytes) const {
    return slice_columns * slice_rows * value_bytes +
           used_steps * static_cast<std::int64_t>(sizeof(slice_step)) +
           static_cast<std::int64_t>(stored.size() + heads.size() * sizeof(slice_head) +
                                     rows.size() * sizeof(std::int32_t));
}

} // namespace krylith
