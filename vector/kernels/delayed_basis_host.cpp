#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/ghosts/host_put.hpp>
#include <krylith/vector/kernels/basis_tiles_host.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

namespace {

/// Entries of u, w and the vectors of a pass that stay near the core: 8 KiB each.
template <class T>
constexpr std::int64_t delayed_tile = basis_tile<T> / 2;

/// Computes V'u and V'w; the second finds V in the cache.
template <class T>
void delayed_products(const delayed_arguments<T>& a, const chunking& chunks, int threads) {
    std::fill_n(a.reduce.partials, (2 * a.count + 1) * chunks.count, 0.0);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t n = std::min(end, a.last_owned) - first;
        if (n <= 0) return;
        const auto sum = [&](int j) { return a.reduce.partials + j * chunks.count + chunk; };
        const T* const u = a.basis[a.count - 1] + first;
        const T* const w = a.w + first;
        int j = 0;
        for (; j + vectors_a_pass <= a.count; j += vectors_a_pass) {
            const T* const v[vectors_a_pass] = {a.basis[j] + first, a.basis[j + 1] + first,
                                                a.basis[j + 2] + first, a.basis[j + 3] + first};
            double* const of_u[vectors_a_pass] = {sum(j), sum(j + 1), sum(j + 2), sum(j + 3)};
            const int at = a.count + j;
            double* const of_w[vectors_a_pass] = {sum(at), sum(at + 1), sum(at + 2), sum(at + 3)};
            add_dots<8, fetched_ahead>(of_u, n, u, v[0], v[1], v[2], v[3]);
            add_dots<8, 0>(of_w, n, w, v[0], v[1], v[2], v[3]);
        }
        for (; j < a.count; ++j) {
            add_dot(*sum(j), n, u, a.basis[j] + first);
            add_dot(*sum(a.count + j), n, w, a.basis[j] + first);
        }
        add_dot(*sum(2 * a.count), n, w, w);
    };
    for_tiles(chunks, threads, delayed_tile<T>, body);
}

/// Computes u -= s_k v_k and next -= t_k v_k for some vectors from j on.
template <class T, int... Term>
void subtract_both(const delayed_arguments<T>& a, int j, T* next, std::int64_t begin,
                   std::int64_t end, std::integer_sequence<int, Term...> /*terms*/) {
    const double* const s = a.common.array + a.first;
    T* const u = a.basis[a.count - 1];
    const T* const v[] = {a.basis[j + Term]...};
    const T of_u[] = {static_cast<T>(s[j + Term])...};
    const T of_w[] = {static_cast<T>(s[a.count + j + Term])...};
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) {
        u[i] = (u[i] - ... - (of_u[Term] * v[Term][i]));
        next[i] = (next[i] - ... - (of_w[Term] * v[Term][i]));
    }
}

template <class T>
void update(const delayed_arguments<T>& a, const chunking& chunks, int threads) {
    const double* const s = a.common.array + a.first;
    const auto inverse = static_cast<T>(s[a.count - 1]);
    const auto along = static_cast<T>(s[2 * a.count - 1]);
    const auto scale = static_cast<T>(s[2 * a.count]);
    T* const u = a.basis[a.count - 1];
    T* const next = a.basis[a.count];
    const auto body = [&](std::int64_t /*chunk*/, std::int64_t begin, std::int64_t end) {
        std::copy(a.w + begin, a.w + end, next + begin);
        const int before = a.count - 1;
        int j = 0;
        for (; j + vectors_a_pass <= before; j += vectors_a_pass)
            subtract_both(a, j, next, begin, end,
                          std::make_integer_sequence<int, vectors_a_pass>());
        for (; j < before; ++j)
            subtract_both(a, j, next, begin, end, std::make_integer_sequence<int, 1>());
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) {
            u[i] *= inverse;
            next[i] = scale * (next[i] - along * u[i]);
        }
    };
    for_tiles(chunks, threads, delayed_tile<T>, body);
}

} // namespace

template <class T>
void delayed_dots(device& device, const delayed_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        const chunking chunks(a.size);
        delayed_products(a, chunks, threads);
        publish(a.common, a.reduce, chunks.count);
    });
}

template <class T>
void delayed_update(device& device, const delayed_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        if (a.sends) give_credit(a.put);
        update(a, chunking(a.size), threads);
        if (a.sends) (void)send(a.common.all_reduce, a.put, a.basis[a.count], threads);
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void delayed_dots(device&, const delayed_arguments<T>&);                              \
    template void delayed_update(device&, const delayed_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
