#include <krylith/graph/frontier/frontier.hpp>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/posted_words.cuh>
#include <krylith/graph/frontier/frontier_scratch.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

// filter_pairs keeps the order of y, in two kernels. Each warp of the grid has a range of the
// pairs. The first kernel decides, leaves a word of bits for 32 pairs and the number of pairs that
// each warp keeps, and posts; the second adds up the numbers of the warps before and writes. Few
// pairs take one kernel of one block. filter_bits has no order to keep, because its result is bits.

namespace krylith::cuda {

namespace {

using spmspv::frontier_arguments;
using spmspv::frontier_scratch;
using spmspv::frontier_totals;

constexpr int one_block_threads = 1024;
constexpr std::int64_t one_block_pairs = 2048;

struct range {
    std::int64_t begin;
    std::int64_t end;
};

/// Returns the range of words of a warp.
__device__ inline range words_of(std::int64_t words, std::int64_t warp, std::int64_t warps) {
    return {words * warp / warps, words * (warp + 1) / warps};
}

__device__ inline std::int64_t warp_number() {
    return (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
}
__device__ inline std::int64_t warps_of_grid() {
    return std::int64_t{gridDim.x} * blockDim.x / 32;
}

/// The entries that a warp has kept; lane p counts their nonzeros in part p. Sums over 32 columns
/// are below 2^31, as are all nonzeros of a part.
struct warp_total {
    std::int64_t entries = 0;
    unsigned long long frontier_nonzeros = 0;

    __device__ void add(const spmspv::column_lengths& lengths, unsigned set, std::int64_t row) {
        if (set == 0) return;
        entries += __popc(set);
        const bool mine = (set >> lane_number() & 1) != 0;
        for (int part = 0; part < lengths.parts; ++part) {
            const auto length = static_cast<unsigned>(mine ? lengths.of(part, row) : 0);
            const unsigned sum = warp_sum(length);
            if (lane_number() == part) frontier_nonzeros += sum;
        }
    }
};

/// Adds up the warps, by all threads at the end; the last block posts and clears the totals. A
/// block that is alone skips the totals, which would cost three trips to memory that the host waits
/// for.
template <class T>
__device__ inline void add_up_and_post(const frontier_arguments<T>& a, frontier_totals* totals,
                                       const warp_total& warp, std::int32_t* count) {
    __shared__ unsigned long long sums[1 + max_gpus];
    const int place = static_cast<int>(threadIdx.x);
    const int words = 1 + a.lengths.parts;
    if (place < words) sums[place] = 0;
    __syncthreads();
    const int lane = lane_number();
    if (lane < a.lengths.parts && warp.frontier_nonzeros != 0)
        atomicAdd(&sums[1 + lane], warp.frontier_nonzeros);
    if (lane == 0 && warp.entries != 0)
        atomicAdd(&sums[0], static_cast<unsigned long long>(warp.entries));
    __syncthreads();
    const bool alone = gridDim.x == 1;
    if (!alone) {
        if (place < words && sums[place] != 0) atomicAdd(&totals->sums[place], sums[place]);
        if (!last_block(&totals->finished)) return;
    }
    if (place >= 32) return;
    if (place < words) {
        const unsigned long long sum = alone ? sums[place] : atomicExch(&totals->sums[place], 0ULL);
        a.post.words[place] = static_cast<std::int64_t>(sum);
        if (place == 0 && count != nullptr) *count = static_cast<std::int32_t>(sum);
    }
    if (place == 0 && !alone) totals->finished = 0;
    __syncwarp();
    if (place == 0) store_release(a.post.posted, a.post.number);
}

template <class Rule>
__device__ inline void decide(const Rule& rule,
                              const frontier_arguments<typename Rule::value_type>& a,
                              const frontier_scratch& scratch) {
    const std::int64_t count = *a.y.count;
    const range words = words_of((count + 31) / 32, warp_number(), warps_of_grid());
    warp_total total;
    for (std::int64_t word = words.begin; word < words.end; ++word) {
        const std::int64_t k = word * 32 + lane_number();
        std::int32_t row = 0;
        bool keep = false;
        if (k < count) {
            row = a.y.indices[k];
            keep = rule.keep(row, a.y.values[k]);
            if (keep) rule.mark(row);
        }
        const unsigned set = __ballot_sync(all_lanes, keep);
        if (lane_number() == 0) scratch.keep[word] = set;
        total.add(a.lengths, set, row);
    }
    if (lane_number() == 0)
        scratch.kept_by_warp[warp_number()] = static_cast<std::int32_t>(total.entries);
    add_up_and_post(a, scratch.totals, total, a.next.count);
}

/// Returns the entries kept by the warps of the grid before this one, to all threads.
__device__ inline std::int32_t kept_before(const std::int32_t* kept_by_warp) {
    __shared__ std::int32_t before_block;
    if (threadIdx.x == 0) before_block = 0;
    __syncthreads();
    const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x / 32;
    std::int32_t sum = 0;
    for (std::int64_t w = threadIdx.x; w < first; w += blockDim.x) sum += kept_by_warp[w];
    sum = warp_sum(sum);
    if (lane_number() == 0 && sum != 0) atomicAdd(&before_block, sum);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const std::int32_t beside = lane_number() < warp ? kept_by_warp[first + lane_number()] : 0;
    const std::int32_t before_warp = warp_sum(beside);
    __syncthreads();
    return before_block + before_warp;
}

template <class Rule>
__device__ inline void place(const Rule& rule,
                             const frontier_arguments<typename Rule::value_type>& a,
                             const frontier_scratch& scratch) {
    std::int32_t to = kept_before(scratch.kept_by_warp);
    const std::int64_t count = *a.y.count;
    const range words = words_of((count + 31) / 32, warp_number(), warps_of_grid());
    const unsigned before_lane = (1u << lane_number()) - 1;
    for (std::int64_t word = words.begin; word < words.end; ++word) {
        const unsigned set = scratch.keep[word];
        if ((set >> lane_number() & 1) != 0) {
            const std::int32_t row = a.y.indices[word * 32 + lane_number()];
            const std::int32_t at = to + __popc(set & before_lane);
            a.next.indices[at] = row;
            a.next.values[at] = rule.outgoing(row);
        }
        to += __popc(set);
    }
}

template <class Rule>
__global__ void __launch_bounds__(block_threads)
    decide_kernel(const Rule rule,
                  const __grid_constant__ frontier_arguments<typename Rule::value_type> a,
                  const frontier_scratch scratch) {
    decide(rule, a, scratch);
}

template <class Rule>
__global__ void __launch_bounds__(block_threads)
    place_kernel(const Rule rule,
                 const __grid_constant__ frontier_arguments<typename Rule::value_type> a,
                 const frontier_scratch scratch) {
    place(rule, a, scratch);
}

/// A kernel of one block: place() sees what decide() stored after the barrier.
template <class Rule>
__global__ void __launch_bounds__(one_block_threads)
    filter_few_kernel(const Rule rule,
                      const __grid_constant__ frontier_arguments<typename Rule::value_type> a,
                      const frontier_scratch scratch) {
    decide(rule, a, scratch);
    __syncthreads();
    place(rule, a, scratch);
}

/// A kernel in which a warp takes one word of bits after the other.
template <class Rule>
__global__ void __launch_bounds__(block_threads)
    filter_bits_kernel(const Rule rule,
                       const __grid_constant__ frontier_arguments<typename Rule::value_type> a,
                       const frontier_scratch scratch) {
    using T = typename Rule::value_type;
    const std::int64_t words = (a.next.size + 31) / 32;
    warp_total total;
    for (std::int64_t word = warp_number(); word < words; word += warps_of_grid()) {
        const unsigned there = a.y.bits != nullptr ? a.y.bits[word] : all_lanes;
        const std::int64_t row = word * 32 + lane_number();
        const bool inside = row < a.next.size;
        bool keep = false;
        if (inside && (there >> lane_number() & 1) != 0) {
            const T value = a.y.dense != nullptr ? a.y.dense[row] : a.y.absent;
            const bool entry = a.y.bits != nullptr || a.y.dense == nullptr || value != a.y.absent;
            keep = entry && rule.keep(row, value);
        }
        const unsigned set = __ballot_sync(all_lanes, keep);
        if (inside) a.next.dense[row] = keep ? rule.outgoing(row) : a.next.absent;
        if (lane_number() == 0) {
            a.next.bits[word] = set;
            if (set != 0) rule.mark_word(word, set);
        }
        total.add(a.lengths, set, row);
    }
    add_up_and_post(a, scratch.totals, total, nullptr);
}

/// Adds up each of the sums over the block; thread 0 gets the result.
template <int Count>
__device__ inline void sum_up(double (&sums)[Count]) {
    __shared__ double warp_sums[block_warps];
#pragma unroll
    for (double& sum : sums) sum = block_sum(sum, warp_sums);
}

template <class T, int Arrays>
__global__ void __launch_bounds__(block_threads)
    frontier_sum_kernel(const T* values, std::int64_t count, const frontier_scratch scratch,
                        const post_address to) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    double sums[Arrays] = {};
    for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < count;
         k += stride) {
#pragma unroll
        for (int v = 0; v < Arrays; ++v) sums[v] += static_cast<double>(values[v * count + k]);
    }
    sum_up(sums);
    if (threadIdx.x == 0)
        for (int v = 0; v < Arrays; ++v)
            scratch.partials[v * spmspv::frontier_blocks + blockIdx.x] = sums[v];
    if (!last_block(&scratch.totals->finished)) return;
    for (double& sum : sums) sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
#pragma unroll
        for (int v = 0; v < Arrays; ++v)
            sums[v] += __ldcg(scratch.partials + v * spmspv::frontier_blocks + b);
    }
    sum_up(sums);
    if (threadIdx.x != 0) return;
    scratch.totals->finished = 0;
    for (int v = 0; v < Arrays; ++v) to.words[v] = __double_as_longlong(sums[v]);
    post(to);
}

template <class Kernel>
unsigned frontier_blocks_for(const launch_scope& launch, Kernel kernel, std::int64_t items) {
    const unsigned blocks =
        launch.blocks(kernel, block_threads, (items + block_threads - 1) / block_threads);
    return blocks < spmspv::frontier_blocks ? blocks : spmspv::frontier_blocks;
}

} // namespace

template <class Rule>
void filter_pairs(device& device, const Rule& rule,
                  const frontier_arguments<typename Rule::value_type>& a, std::int64_t bound) {
    const launch_scope launch(device);
    const auto scratch = frontier_scratch::in(a.scratch);
    if (bound <= one_block_pairs) {
        filter_few_kernel<<<1, one_block_threads, 0, launch.stream()>>>(rule, a, scratch);
        return launch.check_launch();
    }
    // Both kernels partition the pairs in the same way.
    const unsigned blocks = frontier_blocks_for(launch, decide_kernel<Rule>, bound / 2);
    decide_kernel<<<blocks, block_threads, 0, launch.stream()>>>(rule, a, scratch);
    launch.check_launch();
    place_kernel<<<blocks, block_threads, 0, launch.stream()>>>(rule, a, scratch);
    launch.check_launch();
}

template <class Rule>
void filter_bits(device& device, const Rule& rule,
                 const frontier_arguments<typename Rule::value_type>& a) {
    const launch_scope launch(device);
    const auto kernel = filter_bits_kernel<Rule>;
    const std::int64_t frontier_nonzeros = (a.next.size + block_threads - 1) / block_threads;
    kernel<<<launch.blocks(kernel, block_threads, frontier_nonzeros), block_threads, 0,
             launch.stream()>>>(rule, a, frontier_scratch::in(a.scratch));
    launch.check_launch();
}

std::size_t frontier_scratch_bytes(std::int64_t rows) {
    return frontier_scratch::bytes(rows);
}

template <class T>
void post_sums(device& device, const T* values, std::int64_t count, int arrays, std::byte* scratch,
               const post_address& to) {
    static_assert(spmspv::frontier_sums == 3);
    const launch_scope launch(device);
    const auto kernel = arrays == 1 ? frontier_sum_kernel<T, 1> : frontier_sum_kernel<T, 3>;
    kernel<<<frontier_blocks_for(launch, kernel, count), block_threads, 0, launch.stream()>>>(
        values, count, frontier_scratch::in(scratch), to);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(Rule)                                                                  \
    template void filter_pairs(device&, const Rule&, const frontier_arguments<Rule::value_type>&,  \
                               std::int64_t);                                                      \
    template void filter_bits(device&, const Rule&, const frontier_arguments<Rule::value_type>&);
KRYLITH_FOR_FRONTIER_RULES(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void post_sums(device&, const T*, std::int64_t, int, std::byte*, const post_address&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
