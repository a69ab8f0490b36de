#include <krylith/precond/diagonal_inverse.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/config.hpp>
#include <krylith/device/host_device.hpp>

namespace krylith {

namespace {

template <class T>
void invert_on_host(T* d, std::int64_t count, std::uint64_t* first_bad, int threads) {
    auto least = static_cast<std::uint64_t>(count);
#pragma omp parallel for schedule(static) reduction(min : least) num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i) {
        const T inverse = T(1) / d[i];
        if (std::isfinite(d[i]) && std::isfinite(inverse))
            d[i] = inverse;
        else
            least = std::min(least, static_cast<std::uint64_t>(i));
    }
    if (least < static_cast<std::uint64_t>(count)) *first_bad = std::min(*first_bad, least);
}

} // namespace

template <class T>
void invert_diagonal(device& where, T* d, std::int64_t count, std::uint64_t* first_bad) {
#if KRYLITH_HAVE_CUDA
    if (where.kind() == backend::cuda) return cuda::invert_diagonal(where, d, count, first_bad);
#endif
    auto& host = static_cast<host_device&>(where);
    host.submit([=, threads = host.threads()] { invert_on_host(d, count, first_bad, threads); });
}

template void invert_diagonal(device&, double*, std::int64_t, std::uint64_t*);
template void invert_diagonal(device&, float*, std::int64_t, std::uint64_t*);

} // namespace krylith
