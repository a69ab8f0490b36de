// Running sums of sizes: offsets of their counts, numbers of their flags.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/backend_choice.hpp>

namespace krylith {

/// Sizes that lie in an array.
template <class V>
struct listed_sizes {
    const V* sizes;
    [[nodiscard]] KRYLITH_HD V operator()(std::int64_t i) const { return sizes[i]; }
};

namespace host {

template <class Sizes, class Sum>
void add_up_sizes(const std::shared_ptr<device>& device, std::int64_t count, const Sizes& sizes,
                  Sum* sums) {
    static_cast<host_device&>(*device).submit([=] {
        Sum sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto size = static_cast<Sum>(sizes(i));
            sums[i] = sum;
            sum += size;
        }
        sums[count] = sum;
    });
}

} // namespace host

namespace cuda {

/// running_sums.cuh has it: a .cu of the folder of Sizes instantiates it, that of listed_sizes is
/// there.
template <class Sizes, class Sum>
void add_up_sizes(const std::shared_ptr<device>& device, std::int64_t count, const Sizes& sizes,
                  Sum* sums);

} // namespace cuda

/// Enqueues sums[i] = the sum of sizes(j) over j < i, for 0 <= i <= count. Sizes is a plain struct.
template <class Sizes, class Sum>
requires std::is_class_v<Sizes>
void add_up_sizes(const std::shared_ptr<device>& device, std::int64_t count, const Sizes& sizes,
                  Sum* sums) {
    KRYLITH_ON(*device, add_up_sizes(device, count, sizes, sums));
}

/// The same of an array of sizes, which the sums may replace.
template <class V>
void add_up_sizes(const std::shared_ptr<device>& device, std::int64_t count, const V* sizes,
                  std::int64_t* sums) {
    add_up_sizes(device, count, listed_sizes<V>{sizes}, sums);
}

} // namespace krylith
