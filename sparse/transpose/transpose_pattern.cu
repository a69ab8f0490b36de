// Which way a pattern is transposed on a CUDA device, and the gather that brings new values.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/transpose/mirror_kernel.cuh>
#include <krylith/sparse/transpose/transpose_ways.hpp>

namespace krylith::cuda {

namespace {

constexpr int gather_threads = 256;
constexpr unsigned probe_blocks = 8;

template <class Position, class T>
__global__ void __launch_bounds__(gather_threads)
    gather_values(const Position* places, std::int64_t count, const T* from, T* to) {
    const std::int64_t stride = std::int64_t{gridDim.x} * gather_threads;
    for (std::int64_t p = std::int64_t{blockIdx.x} * gather_threads + threadIdx.x; p < count;
         p += stride)
        to[p] = from[places[p]];
}

template <class Position, class T>
void launch_gather(device& on, const Position* places, std::int64_t count, const T* from, T* to) {
    const launch_scope launch(on);
    const auto kernel = gather_values<Position, T>;
    kernel<<<launch.blocks(kernel, gather_threads, (count + gather_threads - 1) / gather_threads),
             gather_threads, 0, launch.stream()>>>(places, count, from, to);
    launch.check_launch();
}

} // namespace

template <class T>
void transpose_mirrored(const std::shared_ptr<device>& on, const csr_pattern& a,
                        const transposed_arrays<T>& to, transpose_facts* facts) {
    const launch_scope launch(*on);
    probe_mirror<<<probe_blocks, mirror_threads, 0, launch.stream()>>>(a, &facts->differs);
    launch.check_launch();
    const auto kernel = mirror_entries<T>;
    constexpr std::int64_t block_entries = std::int64_t{mirror_window} * (mirror_threads / 32);
    kernel<<<launch.blocks(kernel, mirror_threads, (a.nonzeros - 1) / block_entries + 1),
             mirror_threads, 0, launch.stream()>>>(a, to, &facts->differs);
    launch.check_launch();
}

template <class T>
void transpose_pattern(const std::shared_ptr<device>& on, const csr_pattern& a,
                       const transposed_arrays<T>& to) {
    if (a.nonzeros == 0)
        return on->zero(to.offsets,
                        (static_cast<std::size_t>(a.columns) + 1) * sizeof(std::int64_t));
    const buffer<transpose_facts> on_device(on, 1, "transposition");
    on_device.zero();
    transpose_facts* const facts = on_device.data();
    const bool square = a.rows == a.columns;
    const unsigned* const unless = square ? &facts->differs : nullptr;
    if (square) transpose_mirrored(on, a, to, facts);
    tile_transposition tiles(on, a);
    tiles.list(facts, unless);
    bucket_transposition buckets(on, a);
    buckets.count(facts, unless);
    const transpose_facts found = on_device.download().front();
    if (square && found.differs == 0) return;
    if (tiles.fits(found)) return tiles.run(to);
    if (buckets.fits(found)) return buckets.run(found, to);
    transpose_by_sort(on, a, to);
}

template <class T>
void permute(device& on, const permutation_view& places, std::int64_t count, const T* from, T* to) {
    if (places.narrow != nullptr)
        launch_gather(on, places.narrow, count, from, to);
    else
        launch_gather(on, places.wide, count, from, to);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<transpose_mirrored<T>, transpose_pattern<T>, permute<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
