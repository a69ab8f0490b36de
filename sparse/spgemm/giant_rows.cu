// Giant rows: patterns by a bit for each column.
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/giant_rows.hpp>
#include <krylith/sparse/spgemm/wide_rows.cuh>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

/// A warp for each row of B.
__global__ void __launch_bounds__(block_threads)
    mark_giant_row(const __grid_constant__ csr_pattern a, const __grid_constant__ csr_pattern b,
                   std::int64_t row, std::uint32_t* bits) {
    const std::int64_t end = a.offsets[row + 1];
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t k =
             a.offsets[row] + std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         k < end; k += warps) {
        const std::int32_t from = a.indices[k];
        mark_range(b.indices, b.offsets[from], b.offsets[from + 1], 0, bits);
    }
}

__global__ void __launch_bounds__(block_threads)
    count_bits(const std::uint32_t* bits, std::int64_t words, std::int32_t* count) {
    int sum = 0;
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < words;
         i += std::int64_t{gridDim.x} * block_threads)
        sum += __popc(bits[i]);
    sum = warp_sum(sum);
    if (lane_number() == 0 && sum != 0) atomicAdd(count, sum);
}

struct word_of_bits {
    std::int32_t size;
    std::uint32_t bits;
};

/// The columns of a row, as items of a scan.
struct columns_of_bits {
    const std::uint32_t* bits;
    std::int64_t words;
    const std::int64_t* at; ///< where the row begins
    std::int32_t* columns;

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(words);
    }
    [[nodiscard]] __device__ word_of_bits load(std::uint32_t i) const {
        return {__popc(bits[i]), bits[i]};
    }
    __device__ void emit(bool there, std::uint32_t i, word_of_bits item,
                         std::int32_t before) const {
        if (!there) return;
        std::int32_t* to = columns + *at + before;
        for (std::uint32_t rest = item.bits; rest != 0; rest &= rest - 1)
            *to++ = static_cast<std::int32_t>(i * 32 + __ffs(static_cast<int>(rest)) - 1);
    }
    __device__ void finish(std::int32_t) const {}
};

} // namespace

giant_row_bits::giant_row_bits(const std::shared_ptr<device>& device, std::int64_t columns)
    : device_(device),
      bits_(device, static_cast<std::size_t>((columns + 31) / 32), product_item),
      scratch_(device, scan_scratch_bytes, product_item) {}

std::int64_t giant_row_bits::bytes() const noexcept {
    return static_cast<std::int64_t>(bits_.size() * sizeof(std::uint32_t) + scratch_.size());
}

void giant_row_bits::mark(const csr_pattern& a, const csr_pattern& b, std::int64_t row) {
    bits_.zero();
    const launch_scope launch(*device_);
    const auto kernel = mark_giant_row;
    kernel<<<launch.blocks(kernel, block_threads, a.nonzeros / block_warps + 1), block_threads, 0,
             launch.stream()>>>(a, b, row, bits_.data());
    launch.check_launch();
}

void giant_row_bits::count(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                           std::int32_t* counts) {
    mark(a, b, row);
    device_->zero(counts + row, sizeof *counts);
    const launch_scope launch(*device_);
    const auto kernel = count_bits;
    const auto words = static_cast<std::int64_t>(bits_.size());
    kernel<<<launch.blocks(kernel, block_threads, words / block_threads + 1), block_threads, 0,
             launch.stream()>>>(bits_.data(), words, counts + row);
    launch.check_launch();
}

void giant_row_bits::write(const csr_pattern& a, const csr_pattern& b, std::int64_t row,
                           const std::int64_t* offsets, std::int32_t* columns) {
    mark(a, b, row);
    const auto words = static_cast<std::int64_t>(bits_.size());
    scan(*device_, columns_of_bits{bits_.data(), words, offsets + row, columns}, words,
         scratch_.data());
}

} // namespace krylith::cuda
