#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <krylith/sparse/sptrsv/chain_starts.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>

namespace krylith::cuda {

namespace {

constexpr std::int64_t long_triangle_row = 64;
constexpr int chain_batch = 8; // entries that a lane loads at once

/// Looks for the row before in a lane's row; rows that are long are searched by the warp.
template <class T>
__global__ void __launch_bounds__(block_threads)
    mark_starts(triangle_source<T> a, std::uint8_t* starts, std::int64_t* falls) {
    bool descends = false;
    const std::int64_t stride = item_stride();
    const std::int64_t rounds = (a.rows + stride - 1) / stride;
    for (std::int64_t round = 0; round < rounds; ++round) {
        const std::int64_t place = round * stride + first_item();
        const bool there = place < a.rows;
        const std::int64_t row = there ? a.row_at(place) : 0;
        const std::int64_t before = there && place > 0 ? a.row_at(place - 1) : -1;
        const std::int64_t begin = there ? a.offsets[row] : 0;
        const std::int64_t end = there ? a.offsets[row + 1] : 0;
        bool found = false;
        if (end - begin <= long_triangle_row) {
            std::int32_t latest = -1;
            for (std::int64_t next = begin; next < end; next += chain_batch) {
                std::int32_t columns[chain_batch];
#pragma unroll
                for (int u = 0; u < chain_batch; ++u)
                    if (next + u < end) columns[u] = a.indices[next + u];
#pragma unroll
                for (int u = 0; u < chain_batch; ++u) {
                    if (next + u >= end) continue;
                    found = found || columns[u] == before;
                    descends = descends || columns[u] < latest;
                    latest = columns[u];
                }
            }
        }
        unsigned together = __ballot_sync(all_lanes, end - begin > long_triangle_row);
        for (; together != 0; together &= together - 1) {
            const int of = __ffs(static_cast<int>(together)) - 1;
            const std::int64_t from = __shfl_sync(all_lanes, begin, of);
            const std::int64_t to = __shfl_sync(all_lanes, end, of);
            const std::int64_t wanted = __shfl_sync(all_lanes, before, of);
            bool seen = false;
            for (std::int64_t k = from + lane_number(); k < to; k += 32) {
                seen = seen || a.indices[k] == wanted;
                descends = descends || (k + 1 < to && a.indices[k + 1] < a.indices[k]);
            }
            seen = __any_sync(all_lanes, seen) != 0;
            if (lane_number() == of) found = seen;
        }
        if (there) starts[place] = !found || place % longest_chain == 0 ? 1 : 0;
    }
    if (__any_sync(all_lanes, descends) != 0 && lane_number() == 0) *falls = 1;
}

} // namespace

template <class T>
chain_starts find_chains(const std::shared_ptr<device>& device, const triangle_source<T>& a) {
    chain_starts result;
    if (a.rows == 0) return result;
    const auto rows = static_cast<std::size_t>(a.rows);
    result.starts = {device, rows, analysis_item};
    const buffer<std::int64_t> found(device, 2, analysis_item); // chains, and whether a row falls
    found.zero();
    result.places = {device, rows, analysis_item};
    {
        const launch_scope launch(*device);
        const auto kernel = mark_starts<T>;
        kernel<<<launch.blocks(kernel, block_threads, (a.rows + block_threads - 1) / block_threads),
                 block_threads, 0, launch.stream()>>>(a, result.starts.data(), found.data() + 1);
        launch.check_launch();
        std::size_t bytes = 0;
        const auto select = [&](void* scratch) {
            KRYLITH_CUDA_CHECK(cub::DeviceSelect::Flagged(
                scratch, bytes, thrust::counting_iterator<std::int32_t>(0), result.starts.data(),
                result.places.data(), found.data(), a.rows, launch.stream()));
        };
        select(nullptr);
        const buffer<std::byte> scratch(device, bytes, analysis_item);
        select(scratch.data());
    }
    const std::vector<std::int64_t> numbers = found.download();
    result.count = numbers[0];
    result.sorted = numbers[1] == 0;
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template chain_starts find_chains(const std::shared_ptr<device>&, const triangle_source<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
