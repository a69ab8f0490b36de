// Offsets and boundary rows of blocks, on a CUDA device.
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/pattern/device_pattern.hpp>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

#include <krylith/device/cuda/launch_over.cuh>

namespace krylith::cuda {

namespace {

template <class From, class To>
__global__ void __launch_bounds__(block_threads)
    subtract_base(const From* from, std::int64_t count, std::int64_t base, To* to) {
    for (std::int64_t i = first_item(); i < count; i += item_stride())
        to[i] = static_cast<To>(std::int64_t{from[i]} - base);
}

template <class From>
__global__ void __launch_bounds__(block_threads)
    subtract_first(const From* from, std::int64_t count, std::int64_t* to) {
    const std::int64_t base = from[0];
    for (std::int64_t i = first_item(); i < count; i += item_stride())
        to[i] = std::int64_t{from[i]} - base;
}

__global__ void __launch_bounds__(block_threads)
    take_samples(const std::int64_t* offsets, std::int64_t count, std::int64_t by,
                 std::int64_t samples, std::int64_t* to) {
    for (std::int64_t i = first_item(); i < samples; i += item_stride())
        to[i] = offsets[i * by < count ? i * by : count];
}

/// Looks at the groups with a warp for each.
__global__ void __launch_bounds__(block_threads)
    find_boundary(const __grid_constant__ place_groups groups, const std::uint8_t* boundary,
                  std::uint8_t* found) {
    const std::int64_t warps = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t g = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         g < groups.count; g += warps) {
        const std::int64_t begin = groups.first != nullptr ? groups.first[g] : g * groups.size;
        const std::int64_t end =
            groups.last != nullptr ? groups.last[g] : min(begin + groups.size, groups.places);
        bool waits = false;
        for (std::int64_t place = begin + lane_number(); place < end; place += 32) {
            const std::int64_t row = groups.order != nullptr ? groups.order[place] : place;
            waits = waits || (row >= 0 && boundary[row] != 0);
        }
        waits = __any_sync(all_lanes, waits) != 0;
        if (lane_number() == 0) found[g] = waits ? 1 : 0;
    }
}

} // namespace

template <class From, class To>
void move_indices(device& device, const From* from, std::int64_t count, std::int64_t base, To* to) {
    launch_over(device, count, subtract_base<From, To>, from, count, base, to);
}

template <class From>
void count_from_zero(device& device, const From* from, std::int64_t count, std::int64_t* to) {
    launch_over(device, count, subtract_first<From>, from, count, to);
}

std::vector<std::int64_t> sample_offsets(const std::shared_ptr<device>& device,
                                         const std::int64_t* offsets, std::int64_t count,
                                         std::int64_t step) {
    const std::int64_t samples = (count + step - 1) / step + 1;
    const buffer<std::int64_t> taken(device, static_cast<std::size_t>(samples), "set-up");
    launch_over(*device, samples, take_samples, offsets, count, step, samples, taken.data());
    return taken.download();
}

std::vector<std::uint8_t> groups_on_boundary(const std::shared_ptr<device>& device,
                                             const place_groups& groups,
                                             const std::uint8_t* boundary) {
    const buffer<std::uint8_t> found(device, static_cast<std::size_t>(groups.count), "set-up");
    launch_over(*device, std::int64_t{groups.count} * 32, find_boundary, groups, boundary,
                found.data());
    return found.download();
}

template void move_indices(device&, const std::int64_t*, std::int64_t, std::int64_t, std::int64_t*);
template void move_indices(device&, const std::int64_t*, std::int64_t, std::int64_t, std::int32_t*);
template void move_indices(device&, const std::int32_t*, std::int64_t, std::int64_t, std::int64_t*);
template void move_indices(device&, const std::int32_t*, std::int64_t, std::int64_t, std::int32_t*);
template void count_from_zero(device&, const std::int32_t*, std::int64_t, std::int64_t*);
template void count_from_zero(device&, const std::int64_t*, std::int64_t, std::int64_t*);

} // namespace krylith::cuda

namespace krylith {

template <class T>
resident_pattern::resident_pattern(const std::shared_ptr<device>& device, const local_csr<T>& block,
                                   bool needs_columns) {
    if (block.there != nullptr) {
        view_ = *block.there;
        return;
    }
    const std::string item = "set-up";
    const auto count = static_cast<std::int64_t>(block.offsets.size());
    offsets_ = buffer<std::int64_t>(device, block.offsets, item);
    cuda::move_indices(*device, offsets_.data(), count, block.offsets.front(), offsets_.data());
    if (needs_columns && block.device_indices == nullptr)
        columns_ = buffer<std::int32_t>(device, block.indices, item);
    boundary_ = buffer<std::uint8_t>(device, block.boundary, item);
    view_ = {offsets_.data(),
             block.device_indices != nullptr ? block.device_indices : columns_.data(),
             block.boundary.empty() ? nullptr : boundary_.data(),
             cuda::measure_lengths(device, offsets_.data(), count - 1).lengths};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template resident_pattern::resident_pattern(const std::shared_ptr<device>&,                    \
                                                const local_csr<T>&, bool);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
