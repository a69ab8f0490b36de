// The places of the terms of each entry of x among all: running sums of the lengths of columns, and
// their sum for the host.
//
// Bytes: for an entry of x 4 and a sector of offsets, read twice where there are more than 2048
// entries; 8 written. One launch, or two; trips to memory: count, index, offsets.
#include <krylith/device/cuda/host_sum.cuh>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/spmspv/kernels/column_places.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::cuda {

namespace {

struct column_place {
    std::int32_t size;
    std::int32_t start;
};

struct column_lengths {
    column_scan a;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(*a.count);
    }
    [[nodiscard]] __device__ column_place load(std::uint32_t e) const {
        const std::int32_t column = a.entries[e];
        const std::int32_t start = a.offsets[column];
        return {a.offsets[column + 1] - start, start};
    }
    __device__ void emit(bool there, std::uint32_t e, column_place column,
                         std::int32_t before) const {
        if (!there) return;
        a.ends[e] = before + column.size;
        a.starts[e] = column.start;
    }
    __device__ void finish(std::int32_t) const {
        if (a.clear[0] != nullptr) *a.clear[0] = 0;
        if (a.clear[1] != nullptr) *a.clear[1] = 0;
    }
};

__device__ inline void add_of_block(const sum_address& to, std::int64_t part) {
    __shared__ std::int64_t warp_sums[block_warps];
    store_warp_sum(part, warp_sums);
    __syncthreads();
    if (threadIdx.x == 0) add_and_post(to, sum_of_warps(warp_sums));
}

/// Adds up the lengths of columns from pairs, one thread for each pair.
__global__ void __launch_bounds__(block_threads)
    nonzeros_of_pairs(const std::int32_t* offsets, const std::int32_t* entries,
                      const std::int32_t* count, sum_address to) {
    const auto pairs = static_cast<std::uint32_t>(*count);
    const std::uint32_t stride = gridDim.x * block_threads;
    std::int64_t part = 0;
    for (std::uint32_t e = blockIdx.x * block_threads + threadIdx.x; e < pairs; e += stride)
        part += offsets[entries[e] + 1] - offsets[entries[e]];
    add_of_block(to, part);
}

/// Adds up the lengths of columns from bits, one lane for each bit, so that offsets are read in
/// whole cache lines; words without bits cost their reading.
__global__ void __launch_bounds__(block_threads)
    nonzeros_of_bits(const std::int32_t* offsets, const std::uint32_t* bits, std::uint32_t words,
                     sum_address to) {
    constexpr unsigned all = 0xffffffffu;
    const std::uint32_t lane = threadIdx.x & 31;
    const std::uint32_t stride = gridDim.x * block_threads;
    std::int64_t part = 0;
    for (std::uint32_t first = blockIdx.x * block_threads + threadIdx.x - lane; first < words;
         first += stride) {
        const std::uint32_t mine = first + lane < words ? bits[first + lane] : 0;
        unsigned filled = __ballot_sync(all, mine != 0);
        while (filled != 0) {
            const int source = __ffs(static_cast<int>(filled)) - 1;
            filled &= filled - 1;
            const std::uint32_t word = __shfl_sync(all, mine, source);
            const std::uint32_t i = (first + static_cast<std::uint32_t>(source)) * 32 + lane;
            if ((word >> lane & 1) != 0) part += offsets[i + 1] - offsets[i];
        }
    }
    add_of_block(to, part);
}

} // namespace

void scan_columns(device& device, const column_scan& a, std::int64_t bound, void* scratch) {
    scan(device, column_lengths{a}, bound, scratch);
}

template <class M, class T>
std::int64_t count_frontier_nonzeros(device& device, const spmspv::compressed_view<M>& columns,
                                     const spmspv::vector_arrays<T>& x, bool has_pairs) {
    if (x.size == 0 || columns.nonzeros == 0) return 0;
    host_sum& sum = static_cast<cuda_device&>(device).sum_for_host();
    {
        const launch_scope launch(device);
        const auto blocks = [&](auto kernel, std::int64_t threads) {
            return launch.blocks(kernel, block_threads,
                                 (threads + block_threads - 1) / block_threads);
        };
        if (has_pairs)
            nonzeros_of_pairs<<<blocks(nonzeros_of_pairs, x.size), block_threads, 0,
                                launch.stream()>>>(columns.offsets, x.indices, x.count, sum.next());
        else
            nonzeros_of_bits<<<blocks(nonzeros_of_bits, x.words()), block_threads, 0,
                               launch.stream()>>>(
                columns.offsets, x.bits, static_cast<std::uint32_t>(x.words()), sum.next());
        launch.check_launch();
    }
    return sum.wait();
}

#define KRYLITH_INSTANTIATE(M, T)                                                                  \
    template std::int64_t count_frontier_nonzeros(device&, const spmspv::compressed_view<M>&,      \
                                                  const spmspv::vector_arrays<T>&, bool);
KRYLITH_INSTANTIATE(double, double)
KRYLITH_INSTANTIATE(double, float)
KRYLITH_INSTANTIATE(double, std::int32_t)
KRYLITH_INSTANTIATE(float, double)
KRYLITH_INSTANTIATE(float, float)
KRYLITH_INSTANTIATE(float, std::int32_t)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::cuda
