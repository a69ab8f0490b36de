// Giant rows: values by sorting products.
#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/giant_rows.hpp>
#include <krylith/sparse/spgemm/placed_sums.cuh>
#include <krylith/sparse/spgemm/row_limits.hpp>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

struct length_of_row {
    std::int64_t size;
};

/// The number of products before each entry of a row of A, as items of a scan.
struct products_before {
    const std::int32_t* indices; ///< of the row's entries
    std::int64_t entries;
    const std::int64_t* b_offsets;
    std::int64_t* before; ///< [entries + 1]

    [[nodiscard]] __device__ std::uint32_t count() const {
        return static_cast<std::uint32_t>(entries);
    }
    [[nodiscard]] __device__ length_of_row load(std::uint32_t i) const {
        return {b_offsets[indices[i] + 1] - b_offsets[indices[i]]};
    }
    __device__ void emit(bool there, std::uint32_t i, length_of_row, std::int64_t sum) const {
        if (there) before[i] = sum;
    }
    __device__ void finish(std::int64_t total) const { before[entries] = total; }
};

/// Writes products [first, first + count) of a row: their columns and values.
template <class T>
__global__ void __launch_bounds__(block_threads)
    expand_products(const __grid_constant__ device_csr_view<T> a,
                    const __grid_constant__ device_csr_view<T> b, std::int64_t first_entry,
                    const std::int64_t* before, std::int64_t entries, std::int64_t first,
                    std::int64_t count, std::uint32_t* columns, T* values) {
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * block_threads) {
        std::int64_t entry = 0; // the last one with before[entry] <= first + i
        for (std::int64_t end = entries; end - entry > 1;) {
            const std::int64_t middle = (entry + end) / 2;
            if (before[middle] <= first + i)
                entry = middle;
            else
                end = middle;
        }
        const std::int64_t k = first_entry + entry;
        const std::int64_t j = b.offsets[a.indices[k]] + (first + i - before[entry]);
        columns[i] = static_cast<std::uint32_t>(b.indices[j]);
        values[i] = add_product(a.values[k], b.values[j], T{0});
    }
}

/// The first product of each column adds up all of it, one after the other, to the sum of earlier
/// windows.
template <class T>
__global__ void __launch_bounds__(block_threads)
    add_runs(const std::uint32_t* columns, const T* products, std::int64_t count,
             const std::int32_t* row, std::int64_t results, T* values) {
    for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * block_threads) {
        const std::uint32_t column = columns[i];
        if (i != 0 && columns[i - 1] == column) continue;
        std::int64_t place = 0;
        for (std::int64_t rest = results; rest > 1;) {
            const std::int64_t half = rest / 2;
            place += static_cast<std::uint32_t>(row[place + half - 1]) < column ? half : 0;
            rest -= half;
        }
        T sum = values[place];
        for (std::int64_t j = i; j < count && columns[j] == column; ++j) sum += products[j];
        values[place] = sum;
    }
}

int bits_for(std::int64_t columns) {
    int bits = 1;
    while (bits < 32 && std::int64_t{1} << bits < columns) ++bits;
    return bits;
}

template <class T>
std::size_t sort_bytes(std::int64_t count) {
    std::size_t bytes = 0;
    cub::DoubleBuffer<std::uint32_t> keys;
    cub::DoubleBuffer<T> values;
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values,
                                                       static_cast<std::int32_t>(count)));
    return bytes;
}

} // namespace

std::int64_t sorted_row_bytes(std::int64_t entries, std::int64_t window, int value_bytes) {
    const std::size_t sort =
        value_bytes == 8 ? sort_bytes<double>(window) : sort_bytes<float>(window);
    return 8 * (entries + 1) + 2 * (4 + value_bytes) * window +
           static_cast<std::int64_t>(sort + scan_scratch_bytes_of<std::int64_t>);
}

template <class T>
void add_sorted(const std::shared_ptr<device>& device, const device_csr_view<T>& a,
                const device_csr_view<T>& b, const sorted_row& row, const std::int32_t* columns,
                T* values) {
    const std::int64_t window = std::min(row.products, limits_of_rows().sorted_products);
    const buffer<std::int64_t> before(device, static_cast<std::size_t>(row.entries + 1),
                                      product_item);
    const buffer<std::uint32_t> keys(device, static_cast<std::size_t>(2 * window), product_item);
    const buffer<T> products(device, static_cast<std::size_t>(2 * window), product_item);
    std::size_t bytes = sort_bytes<T>(window);
    const buffer<char> scratch(device, bytes, product_item);
    const buffer<char> sums(device, scan_scratch_bytes_of<std::int64_t>, product_item);
    scan(*device,
         products_before{a.indices + row.first_entry, row.entries, b.offsets, before.data()},
         row.entries, sums.data());
    device->zero(values + row.first_result, static_cast<std::size_t>(row.results) * sizeof(T));
    const launch_scope launch(*device);
    const auto expand = expand_products<T>;
    const auto add = add_runs<T>;
    for (std::int64_t first = 0; first < row.products; first += window) {
        const std::int64_t count = std::min(window, row.products - first);
        const std::int64_t work = (count + block_threads - 1) / block_threads;
        expand<<<launch.blocks(expand, block_threads, work), block_threads, 0, launch.stream()>>>(
            a, b, row.first_entry, before.data(), row.entries, first, count, keys.data(),
            products.data());
        cub::DoubleBuffer<std::uint32_t> sorted(keys.data(), keys.data() + window);
        cub::DoubleBuffer<T> values_sorted(products.data(), products.data() + window);
        KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
            scratch.data(), bytes, sorted, values_sorted, static_cast<std::int32_t>(count), 0,
            bits_for(b.columns), launch.stream()));
        add<<<launch.blocks(add, block_threads, work), block_threads, 0, launch.stream()>>>(
            sorted.Current(), values_sorted.Current(), count, columns + row.first_result,
            row.results, values + row.first_result);
        launch.check_launch();
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void add_sorted(const std::shared_ptr<device>&, const device_csr_view<T>&,            \
                             const device_csr_view<T>&, const sorted_row&, const std::int32_t*,    \
                             T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
