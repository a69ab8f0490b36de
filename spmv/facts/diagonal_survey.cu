#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/loops/run_items.cuh>
#include <krylith/spmv/facts/diagonal_tally.hpp>

namespace krylith::cuda {

namespace {

/// Adds or raises a field by the warp's joint value.
__device__ void add_up(std::uint64_t& field, std::uint64_t mine) {
    const std::uint64_t sum = warp_sum(mine);
    if (lane_number() == 0 && sum != 0)
        atomicAdd(reinterpret_cast<atomic_word*>(&field), atomic_word{sum});
}

__device__ void raise_up(std::uint64_t& field, std::uint64_t mine) {
    const std::uint64_t most = warp_reduce(
        mine, [](std::uint64_t own, std::uint64_t other) { return own > other ? own : other; });
    if (lane_number() == 0 && most != 0)
        atomicMax(reinterpret_cast<atomic_word*>(&field), atomic_word{most});
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    survey_kernel(held_diagonal<T> diagonal, diagonal_counts* counts) {
    diagonal_counts mine{};
    for (std::int64_t i = first_item(); i < diagonal.count; i += item_stride()) {
        const T d = diagonal.entries[i];
        if (i >= diagonal.first && i < diagonal.last) tally(mine, d);
        diagonal.entries[i] = probe_scale(d);
    }
    add_up(counts->positive, mine.positive);
    add_up(counts->negative, mine.negative);
    add_up(counts->not_finite, mine.not_finite);
    raise_up(counts->largest_positive, mine.largest_positive);
    raise_up(counts->largest_negative, mine.largest_negative);
    raise_up(counts->smallest_positive, mine.smallest_positive);
    raise_up(counts->smallest_negative, mine.smallest_negative);
}

} // namespace

template <class T>
void survey_diagonal(device& device, const held_diagonal<T>& diagonal, diagonal_counts* counts) {
    launch_over(device, diagonal.count, survey_kernel<T>, diagonal, counts);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void survey_diagonal(device&, const held_diagonal<T>&, diagonal_counts*);             \
    template struct item_runs<probe_task<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
