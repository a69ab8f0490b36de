#include <krylith/graph/frontier/power_step.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/graph/frontier/frontier.hpp>
#include <krylith/graph/frontier/frontier_scratch.hpp>
#include <krylith/spmspv/kernels/grouped_rows.cuh>
#include <krylith/spmspv/semiring.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

constexpr int step_in_flight = 4;

/// The rows as a step updates them.
template <class T>
struct step_rows {
    static constexpr int sums = 3;
    static_assert(sums == spmspv::frontier_sums);
    using row_state = typename spmspv::power_step<T>::row;

    /// Blocks a multiprocessor, for products.
    static constexpr int blocks(int /*lanes*/, bool /*masked*/) { return sizeof(T) == 8 ? 4 : 5; }

    spmspv::power_step<T> step;
    spmspv::power_step_arguments<T> to;
    double* sums_of_words; ///< null where the sums are not wanted

    static step_rows of(const spmspv::power_step<T>& step,
                        const spmspv::power_step_arguments<T>& a) {
        double* const at = spmspv::frontier_scratch::in(a.scratch).sums_of_words;
        return {step, a, a.post.posted != nullptr ? at : nullptr};
    }
    /// Adds up the sums of the words after the kernel, in their order, and posts them.
    void post_sums_of(device& device) const {
        if (sums_of_words != nullptr)
            post_sums(device, sums_of_words, words(), sums, to.scratch, to.post);
    }

    [[nodiscard]] KRYLITH_HD std::int64_t words() const { return (to.rows + 31) / 32; }
    [[nodiscard]] __device__ row_state read(std::int64_t i) const { return step.read(i); }

    /// Updates a word of rows by one warp, a lane each.
    __device__ void word(bool valid, std::int64_t i, T got, row_state& at) const {
        double sum[sums] = {};
        if (valid) {
            to.x[i] = step.update(i, at, got);
            sum[0] = fabs(static_cast<double>(at.residual));
            sum[1] = step.gives(at);
            sum[2] = static_cast<double>(at.rank);
        }
        const unsigned there = __ballot_sync(0xffffffffu, valid);
        if (i % 32 == 0) to.bits[i / 32] = there;
        if (sums_of_words == nullptr) return;
#pragma unroll
        for (int v = 0; v < sums; ++v) {
            sum[v] = warp_sum(sum[v]);
            if (i % 32 == 0) sums_of_words[v * words() + i / 32] = sum[v];
        }
    }
};

template <class T>
__global__ void __launch_bounds__(block_threads)
    power_step_kernel(const __grid_constant__ step_rows<T> rows) {
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    const std::int64_t words = rows.words();
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         first < words; first += step_in_flight * warps) {
        typename step_rows<T>::row_state state[step_in_flight];
        T got[step_in_flight];
#pragma unroll
        for (int u = 0; u < step_in_flight; ++u) {
            const std::int64_t i = (first + u * warps) * 32 + threadIdx.x % 32;
            if (i >= rows.to.rows) continue;
            state[u] = rows.read(i);
            got[u] = rows.to.y != nullptr ? rows.to.y[i] : T(0);
        }
#pragma unroll
        for (int u = 0; u < step_in_flight; ++u) {
            const std::int64_t i = (first + u * warps) * 32 + threadIdx.x % 32;
            if (first + u * warps < words) rows.word(i < rows.to.rows, i, got[u], state[u]);
        }
    }
}

} // namespace

template <class T>
void step_ranks(device& device, const spmspv::power_step<T>& step,
                const spmspv::power_step_arguments<T>& a) {
    const auto rows = step_rows<T>::of(step, a);
    {
        const launch_scope launch(device);
        const auto kernel = power_step_kernel<T>;
        const std::int64_t work = (rows.words() + block_warps - 1) / block_warps;
        const unsigned blocks = launch.blocks(kernel, block_threads, work);
        kernel<<<blocks, block_threads, 0, launch.stream()>>>(rows);
        launch.check_launch();
    }
    rows.post_sums_of(device);
}

template <class T>
void multiply_and_step(device& device, const spmspv::compressed_view<T>& rows,
                       const spmspv::row_chunks& chunks, const T* x,
                       const spmspv::power_step<T>& step,
                       const spmspv::power_step_arguments<T>& a) {
    using S = spmspv::plus_second<T>;
    plain_arguments<S> product = {};
    product.rows = rows;
    product.x.dense = const_cast<T*>(x); // the pointer type is shared with arrays that are written
    product.chunks = chunks;
    const auto results = step_rows<T>::of(step, a);
    multiply_rows_into<S, false, true>(results, device, product);
    results.post_sums_of(device);
}

#define KRYLITH_INSTANTIATE(T) template struct instances<step_ranks<T>, multiply_and_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
