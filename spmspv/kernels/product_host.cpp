#include <krylith/spmspv/kernels/multiply_host.hpp>

#include <atomic>
#include <bit>

#include <krylith/device/host/host_device.hpp>
#include <krylith/spmspv/kernels/sort_scratch.hpp>

namespace krylith::host {

template <class T>
std::size_t kernel_scratch_bytes(const device&, spmspv::kernel k, std::int64_t entries,
                                 std::int64_t frontier_nonzeros) {
    if (spmspv::direction_of(k) != spmspv::direction::push)
        return most_threads * sizeof(row_edge<spmspv::plus_times<double>>);
    if (spmspv::write_back_of(k) == spmspv::write_back::sort)
        return sort_scratch<T>::in(nullptr, entries, frontier_nonzeros).bytes;
    return static_cast<std::size_t>(most_threads + entries + 1) * sizeof(std::int32_t);
}

template <class M, class T>
std::int64_t count_frontier_nonzeros(device& device, const spmspv::compressed_view<M>& columns,
                                     const spmspv::vector_arrays<T>& x, bool has_pairs) {
    std::int64_t nonzeros = 0;
    auto& host = static_cast<host_device&>(device);
    host.submit([&, threads = host.threads()] {
        const auto length = [&](std::int64_t column) {
            return columns.offsets[column + 1] - columns.offsets[column];
        };
        const std::int64_t n = has_pairs ? *x.count : x.words();
        for_ranges(team_for(threads, has_pairs ? n : n * 8), n,
                   [&](std::int64_t begin, std::int64_t end) {
                       std::int64_t sum = 0;
                       for (std::int64_t i = begin; i < end; ++i) {
                           if (has_pairs) {
                               sum += length(x.indices[i]);
                               continue;
                           }
                           for (std::uint32_t bits = x.bits[i]; bits != 0; bits &= bits - 1)
                               sum += length(i * 32 + std::countr_zero(bits));
                       }
                       std::atomic_ref(nonzeros).fetch_add(sum, std::memory_order_relaxed);
                   });
    });
    host.synchronize();
    return nonzeros;
}

#define KRYLITH_INSTANTIATE(S, M)                                                                  \
    template void multiply(device&, spmspv::kernel, const spmspv::product_arguments<S, M>&);
KRYLITH_FOR_PRODUCTS(KRYLITH_INSTANTIATE)
#undef KRYLITH_INSTANTIATE

template std::size_t kernel_scratch_bytes<std::int32_t>(const device&, spmspv::kernel, std::int64_t,
                                                        std::int64_t);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::size_t kernel_scratch_bytes<T>(const device&, spmspv::kernel, std::int64_t,      \
                                                 std::int64_t);
#include <krylith/device/language/instantiate.inc>

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

} // namespace krylith::host
