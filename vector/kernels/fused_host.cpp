#include <algorithm>
#include <concepts>
#include <cstdint>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/ghosts/host_put.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/kernels/host_combination.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

namespace {

/// A statement on the given arrays.
template <class T>
combination<T> statement(const fused_shape& shape, const std::uint8_t* coefficients,
                         T* const* vectors, const registers& reg, int number) {
    const auto& from = shape.statement[number];
    combination<T> to;
    to.target = vectors[from.target];
    to.count = from.terms;
    for (int t = 0; t < from.terms; ++t) {
        const auto& term = from.term[t];
        T coefficient{1};
        if (term.coefficient >= 0)
            coefficient = static_cast<T>(reg[coefficients[term.coefficient]]);
        to.terms[t].v = vectors[term.vector];
        to.terms[t].scale = term.scale >= 0 ? vectors[term.scale] : nullptr;
        to.terms[t].coefficient = term.negative ? -coefficient : coefficient;
        to.scaled = to.scaled || term.scale >= 0;
    }
    return to;
}

/// Each vector passes through memory once: all statements and products of a tile are done while it
/// is in the cache.
template <class T, class Put>
void pass(const fused_arguments<T, Put>& a, const registers& reg, const chunking& chunks,
          int threads) {
    T* vectors[max_fused_vectors] = {};
    for (int v = 0; v < a.shape.vectors; ++v) vectors[v] = a.template array<T>(v);
    combination<T> statements[max_fused_statements];
    for (int s = 0; s < a.shape.statements; ++s)
        statements[s] = statement(a.shape, a.coefficients, vectors, reg, s);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        for (int s = 0; s < a.shape.statements; ++s) combine(statements[s], begin, end);
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t owned = std::min(end, a.last_owned) - first;
        if (owned <= 0) return;
        for (int d = 0; d < a.shape.dots; ++d)
            add_dot(a.reduce.partials[d * chunks.count + chunk], owned,
                    vectors[a.shape.dot[d].a] + first, vectors[a.shape.dot[d].b] + first);
    };
    for_tiles(chunks, threads, tile_size<T>, body);
}

/// The same with vectors of float in an update in double: tiles of them are widened into the cache,
/// and what is assigned to them is rounded at once.
template <class Put>
void mixed_pass(const fused_arguments<double, Put>& a, const registers& reg, const chunking& chunks,
                int threads) {
    constexpr int tile = tile_size<double>;
    const std::uint32_t loaded = a.shape.loaded();
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        double wide[max_fused_vectors][tile];
        double* vectors[max_fused_vectors] = {}; // of the tile
        const std::int64_t n = end - begin;
        for (int v = 0; v < a.shape.vectors; ++v) {
            vectors[v] = a.shape.is_single(v) ? wide[v] : a.template array<double>(v) + begin;
            if (a.shape.is_single(v) && (loaded >> v & 1) != 0)
                std::copy_n(a.template array<float>(v) + begin, n, wide[v]);
        }
        for (int s = 0; s < a.shape.statements; ++s) {
            combine(statement(a.shape, a.coefficients, vectors, reg, s), 0, n);
            const int target = a.shape.statement[s].target;
            if (!a.shape.is_single(target)) continue;
            float* const to = a.template array<float>(target) + begin;
            for (std::int64_t i = 0; i < n; ++i) {
                to[i] = static_cast<float>(wide[target][i]);
                wide[target][i] = static_cast<double>(to[i]);
            }
        }
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t owned = std::min(end, a.last_owned) - first;
        if (owned <= 0) return;
        for (int d = 0; d < a.shape.dots; ++d)
            add_dot(a.reduce.partials[d * chunks.count + chunk], owned,
                    vectors[a.shape.dot[d].a] + (first - begin),
                    vectors[a.shape.dot[d].b] + (first - begin));
    };
    for_tiles(chunks, threads, tile, body);
}

} // namespace

template <class T, class Put>
void fused(device& device, const fused_arguments<T, Put>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        if (a.put_index >= 0) give_credit(a.put);
        const chunking chunks(a.size);
        std::fill_n(a.reduce.partials, a.shape.dots * chunks.count, 0.0);
        if constexpr (std::same_as<T, double>) {
            if (a.shape.mixed())
                mixed_pass(a, reg, chunks, threads);
            else
                pass(a, reg, chunks, threads);
        } else {
            pass(a, reg, chunks, threads);
        }
        if (a.put_index >= 0 &&
            !send(a.common.all_reduce, a.put, a.template array<Put>(a.put_index), threads))
            return;
        publish(a.common, a.reduce, chunks.count);
    });
}

template void fused(device&, const fused_arguments<double, float>&);
#define KRYLITH_INSTANTIATE(T) template void fused(device&, const fused_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
