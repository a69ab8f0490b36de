// Visits of rows on CUDA devices: a team of 1, 4, 8 or 32 lanes a row. Each folder that has steps
// includes this in a .cu file, which names them in row_visits or list_visits.
#pragma once

#include <cstdint>
#include <cstring>
#include <tuple>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/loops/visit_rows.hpp>

namespace krylith::cuda {

inline constexpr int visit_threads = 256;

/// A value of the lane `by` away.
template <class V>
__device__ V of_other_lane(const V& value, int by) {
    static_assert(sizeof(V) % 4 == 0);
    int words[sizeof(V) / 4];
    std::memcpy(words, &value, sizeof value);
#pragma unroll
    for (int& word : words) word = __shfl_xor_sync(all_lanes, word, by);
    V result;
    std::memcpy(&result, words, sizeof result);
    return result;
}

/// Appends rows to a list, block by block: one addition to the counter serves 256 threads, since
/// additions to one address follow one another. All threads of the block call it together.
class block_appender {
public:
    __device__ void append(bool stays, std::int64_t row, const list_step& list,
                           unsigned (&counts)[2][visit_threads / 32], unsigned (&first)[2]) {
        const unsigned warp = threadIdx.x / 32;
        const unsigned lane = threadIdx.x % 32;
        const unsigned staying = __ballot_sync(all_lanes, stays);
        turn_ ^= 1; // what slow warps still read of the last call stays
        if (lane == 0) counts[turn_][warp] = static_cast<unsigned>(__popc(staying));
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned sum = 0;
            for (unsigned& count : counts[turn_]) {
                const unsigned of_warp = count;
                count = sum;
                sum += of_warp;
            }
            first[turn_] = sum != 0 ? atomicAdd(list.stay_count, sum) : 0;
        }
        __syncthreads();
        if (stays)
            list.stay[first[turn_] + counts[turn_][warp] +
                      static_cast<unsigned>(__popc(staying & ((1u << lane) - 1)))] =
                static_cast<std::int32_t>(row);
    }

private:
    int turn_ = 0;
};

template <int Lanes, class Step>
__global__ void __launch_bounds__(visit_threads)
    visit_kernel(const __grid_constant__ Step step, std::int64_t rows,
                 const __grid_constant__ list_step list) {
    __shared__ unsigned counts[2][visit_threads / 32];
    __shared__ unsigned first_place[2];
    constexpr int rows_of_block = visit_threads / Lanes;
    const int of_team = static_cast<int>(threadIdx.x) % Lanes;
    const std::int64_t count = list.rows != nullptr ? std::int64_t{*list.count} : rows;
    const std::int64_t stride = std::int64_t{gridDim.x} * rows_of_block;
    block_appender appender;
    for (std::int64_t first = std::int64_t{blockIdx.x} * rows_of_block; first < count;
         first += stride) {
        const std::int64_t at = first + threadIdx.x / Lanes;
        std::int64_t row = at;
        bool wanted = at < count;
        if (wanted && list.rows != nullptr) row = list.rows[at];
        wanted = wanted && step.wanted(row);
        typename Step::part_type part{};
        if (wanted) part = step.part(row, of_team, Lanes);
#pragma unroll
        for (int by = Lanes / 2; by > 0; by /= 2) part = Step::join(part, of_other_lane(part, by));
        const bool stays = wanted && of_team == 0 && step.finish(row, part);
        if (list.stay != nullptr) appender.append(stays, row, list, counts, first_place);
    }
}

template <int Lanes, class Step>
void launch_visit(device& device, std::int64_t rows, const list_step& list, const Step& step) {
    constexpr int rows_of_block = visit_threads / Lanes;
    const launch_scope launch(device);
    const auto kernel = visit_kernel<Lanes, Step>;
    kernel<<<launch.blocks(kernel, visit_threads, (rows + rows_of_block - 1) / rows_of_block),
             visit_threads, 0, launch.stream()>>>(step, rows, list);
    launch.check_launch();
}

template <class Step>
void visit_list(device& device, const list_step& list, std::int64_t rows, std::int64_t mean,
                const Step& step) {
    constexpr bool of_pairs = requires {
        Step::of_pairs;
    };
    if (of_pairs && mean <= 12) return launch_visit<8>(device, rows, list, step);
    if (of_pairs) return launch_visit<32>(device, rows, list, step);
    constexpr bool alone = !requires {
        Step::least_lanes;
    };
    if (alone && mean <= 12) return launch_visit<1>(device, rows, list, step);
    if (mean <= 40) return launch_visit<4>(device, rows, list, step);
    if (mean <= 64) return launch_visit<8>(device, rows, list, step);
    launch_visit<32>(device, rows, list, step);
}

template <class Step>
void visit_rows(device& device, std::int64_t rows, std::int64_t mean, const Step& step) {
    visit_list(device, {}, rows, mean, step);
}

/// `template struct row_visits<step, other>;` emits visit_rows() for these steps.
template <class... Steps>
struct row_visits {
    static constexpr std::tuple addresses{&visit_rows<Steps>...};
};

/// The same of visit_list().
template <class... Steps>
struct list_visits {
    static constexpr std::tuple addresses{&visit_list<Steps>...};
};

} // namespace krylith::cuda
