#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/spmv/streaming/streamed_kernels.hpp>

namespace krylith::cuda {

namespace {

int bits_of(std::int64_t rows_below) {
    return rows_below > 1 ? std::bit_width(static_cast<std::uint64_t>(rows_below - 1)) : 1;
}

/// Rows are not negative: as unsigned numbers their order is the same, and no bit is turned round.
const std::uint32_t* keys(const std::int32_t* rows) {
    return reinterpret_cast<const std::uint32_t*>(rows);
}

} // namespace

std::size_t sort_by_row_bytes(device& device, std::int32_t count, std::int64_t rows) {
    const launch_scope launch(device);
    std::size_t bytes = 0;
    const std::uint32_t* none = nullptr;
    std::uint32_t* no_keys = nullptr;
    const std::int32_t* no_values = nullptr;
    std::int32_t* to = nullptr;
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, no_keys, no_values, to,
                                                       count, 0, bits_of(rows), launch.stream()));
    return bytes;
}

void sort_by_row(device& device, const std::int32_t* rows, std::int32_t* sorted_rows,
                 const std::int32_t* positions, std::int32_t* sorted_positions, std::int32_t count,
                 std::int64_t rows_below, void* temporary, std::size_t bytes) {
    if (count == 0) return;
    const launch_scope launch(device);
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        temporary, bytes, keys(rows), reinterpret_cast<std::uint32_t*>(sorted_rows), positions,
        sorted_positions, count, 0, bits_of(rows_below), launch.stream()));
}

} // namespace krylith::cuda
