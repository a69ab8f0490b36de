#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/kernels/host_combination.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

namespace {

/// The number of basis vectors in one pass: w is loaded once for all of them.
constexpr int group = 4;

/// Entries of w that stay in the first-level cache while the basis streams past: 16 KiB, to give
/// each of the many streams a stretch long enough for hardware prefetching.
template <class T>
constexpr std::int64_t tile = 4 * tile_size<T>;

/// The distance, in entries, at which products prefetch a basis vector (Zen 4, 2 threads, 30
/// vectors: 36-38 GB/s with this and 16 KiB tiles, 32-33 with neither).
constexpr int ahead = 512;

template <class T>
void products(const basis_arguments<T>& a, const chunking& chunks, int threads) {
    const int values = a.count + (a.norm ? 1 : 0);
    std::fill_n(a.reduce.partials, values * chunks.count, 0.0);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t n = std::min(end, a.last_owned) - first;
        if (n <= 0) return;
        const auto sum = [&](int j) { return a.reduce.partials + j * chunks.count + chunk; };
        const T* const w = a.w + first;
        int j = 0;
        for (; j + group <= a.count; j += group) {
            double* const out[group] = {sum(j), sum(j + 1), sum(j + 2), sum(j + 3)};
            add_dots<8, ahead>(out, n, w, a.basis[j] + first, a.basis[j + 1] + first,
                               a.basis[j + 2] + first, a.basis[j + 3] + first);
        }
        for (; j < a.count; ++j) {
            double* const out = sum(j);
            add_dots<16, ahead>(&out, n, w, a.basis[j] + first);
        }
        if (a.norm) add_dot(*sum(a.count), n, w, w);
    };
    for_tiles(chunks, threads, tile<T>, body);
}

/// w -= array[first + j] * basis[j] for `terms` vectors from j on.
template <class T, int... Term>
void subtract(const basis_arguments<T>& a, int j, std::int64_t begin, std::int64_t end,
              std::integer_sequence<int, Term...> /*terms*/) {
    T* const w = a.w;
    const T* const v[] = {a.basis[j + Term]...};
    const T h[] = {static_cast<T>(a.common.array[a.first + j + Term])...};
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) w[i] = (w[i] - ... - (h[Term] * v[Term][i]));
}

template <class T>
void subtract(const basis_arguments<T>& a, const chunking& chunks, int threads) {
    if (a.norm) std::fill_n(a.reduce.partials, chunks.count, 0.0);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        int j = 0;
        for (; j + group <= a.count; j += group)
            subtract(a, j, begin, end, std::make_integer_sequence<int, group>());
        for (; j < a.count; ++j) subtract(a, j, begin, end, std::make_integer_sequence<int, 1>());
        if (!a.norm) return;
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t n = std::min(end, a.last_owned) - first;
        if (n > 0) add_dot(a.reduce.partials[chunk], n, a.w + first, a.w + first);
    };
    for_tiles(chunks, threads, tile<T>, body);
}

} // namespace

template <class T>
void multi_dot(device& device, const basis_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const chunking chunks(a.size);
        products(a, chunks, threads);
        publish(a.common, a.reduce, chunks.count);
    });
}

template <class T>
void multi_axpy(device& device, const basis_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const chunking chunks(a.size);
        subtract(a, chunks, threads);
        publish(a.common, a.reduce, chunks.count);
    });
}

template void multi_dot(device&, const basis_arguments<double>&);
template void multi_dot(device&, const basis_arguments<float>&);
template void multi_axpy(device&, const basis_arguments<double>&);
template void multi_axpy(device&, const basis_arguments<float>&);

} // namespace krylith::host
