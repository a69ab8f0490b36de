#include <krylith/spmspv/kernels/radix_sort.hpp>

#include <string>

#include <cub/device/device_radix_sort.cuh>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

template <class Value>
int sort_by_key(const sort_arrays& a, std::int64_t count, int bits, void* scratch,
                std::size_t& bytes, cudaStream_t stream) {
    cub::DoubleBuffer<std::uint32_t> keys(a.keys[0], a.keys[1]);
    cub::DoubleBuffer<Value> values(static_cast<Value*>(a.values[0]),
                                    static_cast<Value*>(a.values[1]));
    KRYLITH_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        scratch, bytes, keys, values, static_cast<std::int32_t>(count), 0, bits, stream));
    if (keys.selector != values.selector)
        throw device_error("radix sort: keys and values are in different places");
    return keys.selector;
}

} // namespace

std::size_t sort_scratch_bytes(std::int64_t count, std::size_t value_bytes) {
    if (count == 0) return 0;
    std::size_t bytes = 0;
    if (value_bytes == 4)
        (void)sort_by_key<std::uint32_t>({}, count, 32, nullptr, bytes, nullptr);
    else
        (void)sort_by_key<std::uint64_t>({}, count, 32, nullptr, bytes, nullptr);
    return bytes;
}

int sort_pairs(device& device, const sort_arrays& a, std::int64_t count, std::size_t value_bytes,
               int bits, void* scratch) {
    if (count == 0) return 0;
    const launch_scope launch(device);
    std::size_t bytes = sort_scratch_bytes(count, value_bytes);
    if (value_bytes == 4)
        return sort_by_key<std::uint32_t>(a, count, bits, scratch, bytes, launch.stream());
    return sort_by_key<std::uint64_t>(a, count, bits, scratch, bytes, launch.stream());
}

} // namespace krylith::cuda
