#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/kernels/basis_tiles_host.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/kernels/host_combination.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

namespace {

template <class T>
void basis_products(const basis_arguments<T>& a, const chunking& chunks, int threads) {
    const int values = a.count + (a.norm ? 1 : 0);
    std::fill_n(a.reduce.partials, values * chunks.count, 0.0);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t n = std::min(end, a.last_owned) - first;
        if (n <= 0) return;
        const auto sum = [&](int j) { return a.reduce.partials + j * chunks.count + chunk; };
        const T* const w = a.w + first;
        int j = 0;
        for (; j + vectors_a_pass <= a.count; j += vectors_a_pass) {
            double* const out[vectors_a_pass] = {sum(j), sum(j + 1), sum(j + 2), sum(j + 3)};
            add_dots<8, fetched_ahead>(out, n, w, a.basis[j] + first, a.basis[j + 1] + first,
                                       a.basis[j + 2] + first, a.basis[j + 3] + first);
        }
        for (; j < a.count; ++j) {
            double* const out = sum(j);
            add_dots<16, fetched_ahead>(&out, n, w, a.basis[j] + first);
        }
        if (a.norm) add_dot(*sum(a.count), n, w, w);
    };
    for_tiles(chunks, threads, basis_tile<T>, body);
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
        for (; j + vectors_a_pass <= a.count; j += vectors_a_pass)
            subtract(a, j, begin, end, std::make_integer_sequence<int, vectors_a_pass>());
        for (; j < a.count; ++j) subtract(a, j, begin, end, std::make_integer_sequence<int, 1>());
        if (!a.norm) return;
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t n = std::min(end, a.last_owned) - first;
        if (n > 0) add_dot(a.reduce.partials[chunk], n, a.w + first, a.w + first);
    };
    for_tiles(chunks, threads, basis_tile<T>, body);
}

} // namespace

template <class T>
void multi_dot(device& device, const basis_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const chunking chunks(a.size);
        basis_products(a, chunks, threads);
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

#define KRYLITH_INSTANTIATE(T) template struct instances<multi_dot<T>, multi_axpy<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
