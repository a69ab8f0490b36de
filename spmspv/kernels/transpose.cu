// The columns of a CSR matrix, on the device: its entries are sorted by column, stably, so that
// rows ascend in each. It is done once for each matrix: 16 bytes a nonzero of temporary memory; 16
// bytes a nonzero moved for each 8 bits of column numbers, and the values gathered, a sector each.
#include <algorithm>
#include <bit>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/merge/merge_path.hpp>
#include <krylith/spmspv/csr_csc_pair.hpp>
#include <krylith/spmspv/kernels/radix_sort.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

__global__ void __launch_bounds__(block_threads)
    number_entries(const std::int32_t* columns, std::uint32_t nonzeros, std::uint32_t* keys,
                   std::uint32_t* numbers) {
    const std::uint32_t stride = gridDim.x * block_threads;
    for (std::uint32_t k = blockIdx.x * block_threads + threadIdx.x; k < nonzeros; k += stride) {
        keys[k] = static_cast<std::uint32_t>(columns[k]);
        numbers[k] = k;
    }
}

/// Computes offsets[c], the number of entries of columns below c.
__global__ void __launch_bounds__(block_threads)
    find_columns(const std::uint32_t* keys, std::uint32_t nonzeros, std::uint32_t columns,
                 std::int32_t* offsets) {
    const std::uint32_t stride = gridDim.x * block_threads;
    for (std::uint32_t c = blockIdx.x * block_threads + threadIdx.x; c <= columns; c += stride) {
        std::uint32_t low = 0;
        std::uint32_t high = nonzeros;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (keys[middle] < c)
                low = middle + 1;
            else
                high = middle;
        }
        offsets[c] = static_cast<std::int32_t>(low);
    }
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    gather_entries(const std::uint32_t* numbers, const spmspv::compressed_view<T> rows,
                   std::int32_t* row_indices, T* values) {
    const auto nonzeros = static_cast<std::uint32_t>(rows.nonzeros);
    const std::uint32_t stride = gridDim.x * block_threads;
    for (std::uint32_t k = blockIdx.x * block_threads + threadIdx.x; k < nonzeros; k += stride) {
        const std::uint32_t entry = numbers[k];
        // The row of the entry is the first whose end lies behind it.
        std::uint32_t low = 0;
        std::uint32_t high = static_cast<std::uint32_t>(rows.major_size);
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (static_cast<std::uint32_t>(rows.offsets[middle + 1]) <= entry)
                low = middle + 1;
            else
                high = middle;
        }
        row_indices[k] = static_cast<std::int32_t>(low);
        if (values != nullptr) values[k] = rows.values[entry];
    }
}

/// Memory that is freed when what is enqueued on the device is done.
class temporary_memory {
public:
    temporary_memory(device& device, std::size_t bytes)
        : device_(device),
          bytes_(bytes),
          memory_(static_cast<std::byte*>(device.allocate(bytes, item))) {}
    temporary_memory(const temporary_memory&) = delete;
    temporary_memory& operator=(const temporary_memory&) = delete;
    ~temporary_memory() {
        auto& on = static_cast<cuda_device&>(device_);
        {
            const current_device current(on.ordinal());
            cudaStreamSynchronize(on.stream());
        }
        device_.deallocate(memory_, bytes_, item);
    }
    [[nodiscard]] std::byte* data() const { return memory_; }

private:
    static constexpr const char* item = "transposition";
    device& device_;
    std::size_t bytes_;
    std::byte* memory_;
};

} // namespace

template <class T>
void transpose(device& device, const spmspv::compressed_view<T>& rows, std::int32_t* column_offsets,
               std::int32_t* row_indices, T* values) {
    const auto nonzeros = static_cast<std::uint32_t>(rows.nonzeros);
    const auto columns = static_cast<std::uint32_t>(rows.across);
    if (nonzeros == 0)
        return device.zero(column_offsets, (std::size_t{columns} + 1) * sizeof(std::int32_t));
    const std::size_t array = (std::size_t{nonzeros} * sizeof(std::uint32_t) + 255) / 256 * 256;
    const current_device current(device.ordinal());
    const temporary_memory memory(device,
                                  4 * array + sort_scratch_bytes(nonzeros, sizeof(std::uint32_t)));
    const auto part = [&](std::size_t p) {
        return reinterpret_cast<std::uint32_t*>(memory.data() + p * array);
    };
    const sort_arrays arrays{{part(0), part(1)}, {part(2), part(3)}};
    const launch_scope launch(device);
    const auto blocks = [&](auto kernel, std::int64_t threads) {
        return launch.blocks(kernel, block_threads, (threads + block_threads - 1) / block_threads);
    };
    number_entries<<<blocks(number_entries, nonzeros), block_threads, 0, launch.stream()>>>(
        rows.indices, nonzeros, arrays.keys[0], part(2));
    launch.check_launch();
    const int bits = std::max(1, static_cast<int>(std::bit_width(columns - 1)));
    const int sorted = sort_pairs(device, arrays, nonzeros, sizeof(std::uint32_t), bits,
                                  memory.data() + 4 * array);
    find_columns<<<blocks(find_columns, std::int64_t{columns} + 1), block_threads, 0,
                   launch.stream()>>>(arrays.keys[sorted], nonzeros, columns, column_offsets);
    launch.check_launch();
    const auto gather = gather_entries<T>;
    gather<<<blocks(gather, nonzeros), block_threads, 0, launch.stream()>>>(
        static_cast<const std::uint32_t*>(arrays.values[sorted]), rows, row_indices,
        rows.values != nullptr ? values : nullptr);
    launch.check_launch();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void transpose(device&, const spmspv::compressed_view<T>&, std::int32_t*,             \
                            std::int32_t*, T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
