#include <memory>
#include <string>

#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/sptrsv/row_solve.cuh>
#include <krylith/sparse/sptrsv/slice_solve.cuh>
#include <krylith/sparse/sptrsv/solve_kernels.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::cuda {

namespace {

constexpr int waiting_block = 128; // of a block whose rows wait

template <class T>
__global__ void __launch_bounds__(256) fill_with_ones(T* words, std::int64_t count) {
    for (std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * 256)
        store_unknown(words + i);
}

/// A block takes as many slices as it has warps by a ticket, and the next ticket while it solves.
template <int Batch, int Vectors, word_scope Scope, class T>
__global__ void __launch_bounds__(waiting_block)
    solve_by_slices(const __grid_constant__ triangle_slices<T> a,
                    const __grid_constant__ triangular_vectors<T> v, T* all_words,
                    solve_counters* counters) {
    const word_pair<T> words(all_words, a.rows * Vectors, counters->parity);
    const std::int64_t warps = blockDim.x / 32;
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&counters->ticket, 1u);
    __syncthreads();
    for (;;) {
        const std::int64_t first = ticket * warps;
        if (first >= a.slices) break;
        unsigned next = 0;
        if (threadIdx.x == 0) next = atomicAdd(&counters->ticket, 1u);
        const std::int64_t slice = first + threadIdx.x / 32;
        if (slice < a.slices) solve_slice<Batch, Vectors, Scope>(a, v, words, slice);
        __syncthreads();
        if (threadIdx.x == 0) ticket = next;
        __syncthreads();
    }
    leave_solve(counters);
}

template <int Batch, int Vectors, class T>
__global__ void __launch_bounds__(256)
    solve_one_level(const __grid_constant__ triangle_slices<T> a,
                    const __grid_constant__ triangular_vectors<T> v, std::int64_t first,
                    std::int64_t last) {
    const std::int64_t warps = std::int64_t{gridDim.x} * 8;
    for (std::int64_t s = first + std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32; s < last;
         s += warps)
        solve_independent_slice<Batch, Vectors>(a, v, s);
}

template <int Batch, int Vectors, class T>
__global__ void __launch_bounds__(256)
    solve_by_rows(const __grid_constant__ triangle_source<T> a,
                  const __grid_constant__ triangular_vectors<T> v, bool unit, T* all_words,
                  solve_counters* counters, const std::int32_t* starts, std::int64_t chains) {
    const word_pair<T> words(all_words, a.rows * Vectors, counters->parity);
    row_work<T, Vectors> work{v, words, a.values, unit};
    sweep_rows<Batch>(a, work, &counters->ticket, starts, chains);
    leave_solve(counters);
}

template <class T>
__global__ void __launch_bounds__(256) look_at_pivots(triangle_source<T> a, unsigned* bad_row) {
    const int lane = lane_number();
    const std::int64_t warps = std::int64_t{gridDim.x} * 8;
    for (std::int64_t row = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32; row < a.rows;
         row += warps) {
        T pivot = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += 32)
            if (a.indices[k] == row) pivot += a.values[k];
        pivot = warp_sum(pivot);
        if (lane == 0 && pivot == T{0}) atomicMin(bad_row, static_cast<unsigned>(row));
    }
}

/// Calls body(Vectors) as a constant.
template <class Body>
void with_vectors(int vectors, const Body& body) {
    if (vectors == 1) return body(std::integral_constant<int, 1>{});
    if (vectors == 2) return body(std::integral_constant<int, 2>{});
    body(std::integral_constant<int, 4>{});
}

/// Calls body(Batch, Vectors) as constants: a lane loads all its entries at once where the
/// registers suffice.
template <class Body>
void with_batch(int vectors, int steps, const Body& body) {
    using std::integral_constant;
    if (vectors == 4) return body(integral_constant<int, 4>{}, integral_constant<int, 4>{});
    if (vectors == 2) return body(integral_constant<int, 4>{}, integral_constant<int, 2>{});
    if (steps <= 4) return body(integral_constant<int, 4>{}, integral_constant<int, 1>{});
    if (steps <= 8) return body(integral_constant<int, 8>{}, integral_constant<int, 1>{});
    body(integral_constant<int, 16>{}, integral_constant<int, 1>{});
}

} // namespace

template <class T>
void forget_words(device& device, T* words, std::int64_t count) {
    const launch_scope launch(device);
    const auto kernel = fill_with_ones<T>;
    kernel<<<launch.blocks(kernel, 256, (count + 255) / 256), 256, 0, launch.stream()>>>(words,
                                                                                         count);
    launch.check_launch();
}

template <class T>
void solve_slices(device& device, const triangle_slices<T>& a, const triangular_vectors<T>& v,
                  const solve_words<T>& words, const solve_launch& how) {
    const launch_scope launch(device);
    const int multiprocessors = static_cast<cuda_device&>(device).multiprocessors();
    with_batch(words.vectors, how.steps, [&](auto batch, auto vectors) {
        if (how.one_block) {
            solve_by_slices<batch.value, vectors.value, word_scope::block>
                <<<1, waiting_block, 0, launch.stream()>>>(a, v, words.words, words.counters);
            return;
        }
        // More warps than these only wait, and their looking takes L2's time from others.
        const int each = batch.value == 16 ? 2 : 4;
        const auto most =
            std::min<std::int64_t>(std::int64_t{multiprocessors} * each,
                                   (a.slices * 32 + waiting_block - 1) / waiting_block);
        const auto blocks = how.blocks != 0 ? how.blocks : static_cast<unsigned>(most);
        solve_by_slices<batch.value, vectors.value, word_scope::device>
            <<<blocks, waiting_block, 0, launch.stream()>>>(a, v, words.words, words.counters);
    });
    launch.check_launch();
}

template <class T>
void solve_level(device& device, const triangle_slices<T>& a, const triangular_vectors<T>& v,
                 int vectors, std::int64_t first, std::int64_t last) {
    const launch_scope launch(device);
    with_vectors(vectors, [&](auto number) {
        const auto kernel = solve_one_level<4, number.value, T>;
        kernel<<<launch.blocks(kernel, 256, (last - first + 7) / 8), 256, 0, launch.stream()>>>(
            a, v, first, last);
    });
    launch.check_launch();
}

template <class T>
void solve_rows(device& device, const triangle_source<T>& a, bool unit, const std::int32_t* starts,
                std::int64_t chains, const triangular_vectors<T>& v, const solve_words<T>& words,
                const solve_launch& how) {
    const launch_scope launch(device);
    const int multiprocessors = static_cast<cuda_device&>(device).multiprocessors();
    const auto work =
        static_cast<unsigned>(std::min<std::int64_t>(multiprocessors * 2, (chains + 255) / 256));
    const auto blocks = how.blocks != 0 ? how.blocks : work;
    with_vectors(words.vectors, [&](auto number) {
        solve_by_rows<4, number.value><<<blocks, 256, 0, launch.stream()>>>(
            a, v, unit, words.words, words.counters, starts, chains);
    });
    launch.check_launch();
}

template <class T>
std::int64_t find_bad_pivot(const std::shared_ptr<device>& device, const triangle_source<T>& a) {
    const buffer<unsigned> bad(device, 1, "pivots");
    {
        const launch_scope launch(*device);
        KRYLITH_CUDA_CHECK(cudaMemsetAsync(bad.data(), 0xff, sizeof(unsigned), launch.stream()));
        const auto kernel = look_at_pivots<T>;
        kernel<<<launch.blocks(kernel, 256, (a.rows + 7) / 8), 256, 0, launch.stream()>>>(
            a, bad.data());
        launch.check_launch();
    }
    const unsigned row = bad.download().front();
    return row == ~0u ? -1 : std::int64_t{row};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<forget_words<T>, solve_slices<T>, solve_level<T>, solve_rows<T>,     \
                              find_bad_pivot<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
