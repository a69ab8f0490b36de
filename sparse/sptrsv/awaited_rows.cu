#include <algorithm>

#include <krylith/sparse/sptrsv/awaited_rows.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

namespace {

constexpr std::int64_t longest_listed = 48;
constexpr int awaited_batch = 8;
constexpr int rows_of_line = 128 / sizeof(awaited_rows); // rows of a cache line
constexpr int ahead = 2 * rows_of_line;                  // how far rows are fetched into L2

/// The awaited rows of one row, found entry by entry from the outer end of the triangle.
struct awaited_list {
    awaited_rows found{{-1, -1, -1, -1}};
    int count = 0;
    std::int64_t last = -1; ///< the place of the latest entry, which is not decided

    /// Decides about the latest entry, after which comes `next`.
    __device__ void decide(const std::uint8_t* starts, std::int64_t place, std::int64_t next,
                           std::int64_t row) {
        if (last < 0) return;
        const bool chained =
            (next == last + 1 && starts[next] == 0) || (last == place - 1 && starts[place] == 0);
        if (chained) return;
#pragma unroll
        for (int i = 0; i < awaited_rows::most; ++i)
            if (i == count) found.rows[i] = static_cast<std::int32_t>(row);
        ++count;
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    list_awaited(triangle_source<T> a, const std::uint8_t* starts, awaited_rows* awaited,
                 std::int32_t* lengths, unsigned* crowded) {
    bool too_many = false;
    for (std::int64_t place = first_item(); place < a.rows; place += item_stride()) {
        const std::int64_t row = a.row_at(place);
        const std::int64_t begin = a.offsets[row];
        const std::int64_t end = a.offsets[row + 1];
        if (end - begin > longest_listed) {
            too_many = true;
            continue;
        }
        awaited_list list;
        int length = 0;
        bool ends = false;
        for (std::int64_t next = begin; next < end && !ends; next += awaited_batch) {
            std::int32_t columns[awaited_batch];
#pragma unroll
            for (int u = 0; u < awaited_batch; ++u)
                columns[u] = next + u < end ? a.indices[a.from_outside(next + u, begin, end)] : -1;
#pragma unroll
            for (int u = 0; u < awaited_batch; ++u) {
                if (columns[u] < 0 || !a.depends(row, columns[u])) continue;
                const std::int64_t own = a.row_at(columns[u]); // row_at() is its own inverse
                list.decide(starts, place, own, a.row_at(list.last));
                list.last = own;
                ++length;
            }
            ends = columns[awaited_batch - 1] >= 0 && a.ends(row, columns[awaited_batch - 1]);
        }
        list.decide(starts, place, -1, a.row_at(list.last));
        too_many = too_many || list.count > awaited_rows::most;
        awaited[place] = list.found;
        lengths[row] = length;
    }
    if (__any_sync(all_lanes, too_many) != 0 && lane_number() == 0) *crowded = 1;
}

__device__ inline std::int32_t look_at_level(const std::int32_t* level) {
    std::int32_t value;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(level) : "memory");
    return value;
}

/// A lane takes a chain, and keeps the level of its latest row. No lane waits inside a step.
__global__ void __launch_bounds__(block_threads)
    sweep_lists(std::int64_t rows, bool upper, const awaited_rows* __restrict__ awaited,
                const std::int32_t* __restrict__ starts, std::int64_t chains, std::int32_t* levels,
                unsigned* ticket, int* highest) {
    int most = 0;
    for (;;) {
        unsigned number = 0;
        if (lane_number() == 0) number = atomicAdd(ticket, 1u);
        number = __shfl_sync(all_lanes, number, 0);
        if (std::int64_t{number} * 32 >= chains) break;
        const std::int64_t own = std::int64_t{number} * 32 + lane_number();
        std::int64_t place = own < chains ? starts[own] : rows;
        const std::int64_t last = own + 1 < chains ? starts[own + 1] : rows;
        bool done = place >= last;
        int below = 0;
        awaited_rows next{{-1, -1, -1, -1}};
        std::int32_t wanted[awaited_rows::most];
        if (!done) next = awaited[place];
#pragma unroll
        for (int i = 0; i < awaited_rows::most; ++i) wanted[i] = next.rows[i];
        if (place + 1 < last) next = awaited[place + 1];
        for (;;) {
            bool goes_on = false;
            if (!done) {
                std::int32_t seen[awaited_rows::most];
#pragma unroll
                for (int i = 0; i < awaited_rows::most; ++i)
                    if (wanted[i] >= 0) seen[i] = look_at_level(levels + wanted[i]);
                goes_on = true;
#pragma unroll
                for (int i = 0; i < awaited_rows::most; ++i) {
                    if (wanted[i] < 0) continue;
                    if (seen[i] == 0) {
                        goes_on = false;
                        continue;
                    }
                    below = max(below, seen[i]);
                    wanted[i] = -1;
                }
                if (goes_on) {
                    ++below; // the level of this row + 1, and the least for the next of the chain
                    const std::int64_t row = upper ? rows - 1 - place : place;
                    asm volatile("st.relaxed.gpu.global.s32 [%0], %1;"
                                 :
                                 : "l"(levels + row), "r"(below)
                                 : "memory");
                    ++place;
                    done = place >= last;
#pragma unroll
                    for (int i = 0; i < awaited_rows::most; ++i) wanted[i] = next.rows[i];
                    if (place + 1 < last) next = awaited[place + 1];
                    if (place % rows_of_line == 0 && place + ahead < last)
                        asm volatile("prefetch.global.L2 [%0];" : : "l"(awaited + place + ahead));
                }
            }
            if (__all_sync(all_lanes, done) != 0) break;
        }
        most = max(most, below);
    }
    most = __reduce_max_sync(all_lanes, most);
    if (lane_number() == 0 && most != 0) atomicMax(highest, most);
}

} // namespace

template <class T>
void find_awaited_rows(device& device, const triangle_source<T>& a, const std::uint8_t* starts,
                       awaited_rows* awaited, std::int32_t* lengths, unsigned* crowded) {
    launch_over(device, a.rows, list_awaited<T>, a, starts, awaited, lengths, crowded);
}

void sweep_awaited(device& device, std::int64_t rows, bool upper, const awaited_rows* awaited,
                   const std::int32_t* starts, std::int64_t chains, std::int32_t* levels,
                   unsigned* ticket, int* highest) {
    const launch_scope launch(device);
    const std::int64_t most = static_cast<cuda_device&>(device).multiprocessors();
    const auto blocks =
        static_cast<unsigned>(std::min(most, (chains + block_threads - 1) / block_threads));
    sweep_lists<<<blocks, block_threads, 0, launch.stream()>>>(rows, upper, awaited, starts, chains,
                                                               levels, ticket, highest);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void find_awaited_rows(device&, const triangle_source<T>&, const std::uint8_t*,       \
                                    awaited_rows*, std::int32_t*, unsigned*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
