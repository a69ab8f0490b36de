#include <krylith/spmspv/kernels/vector_fill.hpp>

#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

void shift_indices(device& device, const std::int32_t* from, std::int32_t* to, std::int64_t count,
                   std::int32_t shift) {
    static_cast<host_device&>(device).submit(
        [=] { std::transform(from, from + count, to, [=](auto index) { return index + shift; }); });
}

template <class T>
void spread_bits(device& device, const spmspv::vector_arrays<T>& v, T present) {
    auto& host = static_cast<host_device&>(device);
    host.submit([v, present, parts = team_for(host.threads(), v.size)] {
        for_ranges(parts, v.size, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                v.dense[i] = has_bit(v.bits, i) ? present : v.absent;
        });
    });
}

template <class T>
void fill(device& device, T* to, std::int64_t count, T value) {
    static_cast<host_device&>(device).submit([=] { std::fill_n(to, count, value); });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void spread_bits(device&, const spmspv::vector_arrays<T>&, T);                        \
    template void fill(device&, T*, std::int64_t, T);
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

template void fill(device&, std::uint32_t*, std::int64_t, std::uint32_t);

} // namespace krylith::host
