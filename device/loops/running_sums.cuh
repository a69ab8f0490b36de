// Running sums on CUDA devices, in two passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

#include <krylith/device/loops/running_sums.hpp>
#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/device/memory/buffer.hpp>

namespace krylith::cuda {

/// Sizes for the scan, which writes what comes before each.
template <class Sizes, class Sum>
struct summed_items {
    struct item {
        Sum size;
    };
    Sizes sizes;
    Sum* sums;
    std::uint32_t number;

    [[nodiscard]] __device__ std::uint32_t count() const { return number; }
    [[nodiscard]] __device__ item load(std::uint32_t i) const {
        return {static_cast<Sum>(sizes(i))};
    }
    __device__ void emit(bool there, std::uint32_t i, item, Sum before) const {
        if (there) sums[i] = before;
    }
    __device__ void finish(Sum total) const { sums[number] = total; }
};

template <class Sizes, class Sum>
void add_up_sizes(const std::shared_ptr<device>& device, std::int64_t count, const Sizes& sizes,
                  Sum* sums) {
    const buffer<std::byte> scratch(device, scan_scratch_bytes_of<Sum>, "running sums");
    scan(*device, summed_items<Sizes, Sum>{sizes, sums, static_cast<std::uint32_t>(count)}, count,
         scratch.data());
}

/// `template struct size_sums<sum, sizes, others>;` emits add_up_sizes() for these sizes.
template <class Sum, class... Sizes>
struct size_sums {
    static constexpr std::tuple addresses{&add_up_sizes<Sizes, Sum>...};
};

} // namespace krylith::cuda
