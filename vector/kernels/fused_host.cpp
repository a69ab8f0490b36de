#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/ghosts/host_put.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/kernels/host_combination.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

namespace {

template <class T>
combination<T> statement(const fused_arguments<T>& a, const registers& reg, int number) {
    const auto& from = a.shape.statement[number];
    combination<T> to;
    to.target = a.vectors[from.target];
    to.count = from.terms;
    for (int t = 0; t < from.terms; ++t) {
        const auto& term = from.term[t];
        T coefficient{1};
        if (term.coefficient >= 0)
            coefficient = static_cast<T>(reg[a.coefficients[term.coefficient]]);
        to.terms[t].v = a.vectors[term.vector];
        to.terms[t].scale = term.scale >= 0 ? a.vectors[term.scale] : nullptr;
        to.terms[t].coefficient = term.negative ? -coefficient : coefficient;
        to.scaled = to.scaled || term.scale >= 0;
    }
    return to;
}

/// Each vector passes through memory once: all statements and products of a tile are done while it
/// is in the cache.
template <class T>
void pass(const fused_arguments<T>& a, const registers& reg, const chunking& chunks, int threads) {
    combination<T> statements[max_fused_statements];
    for (int s = 0; s < a.shape.statements; ++s) statements[s] = statement(a, reg, s);
    std::fill_n(a.reduce.partials, a.shape.dots * chunks.count, 0.0);
    const auto body = [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        for (int s = 0; s < a.shape.statements; ++s) combine(statements[s], begin, end);
        const std::int64_t first = std::max(begin, a.first_owned);
        const std::int64_t owned = std::min(end, a.last_owned) - first;
        if (owned <= 0) return;
        for (int d = 0; d < a.shape.dots; ++d)
            add_dot(a.reduce.partials[d * chunks.count + chunk], owned,
                    a.vectors[a.shape.dot[d].a] + first, a.vectors[a.shape.dot[d].b] + first);
    };
    for_tiles(chunks, threads, tile_size<T>, body);
}

} // namespace

template <class T>
void fused(device& device, const fused_arguments<T>& a) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        if (a.put_index >= 0) give_credit(a.common.all_reduce, a.put);
        const chunking chunks(a.size);
        pass(a, reg, chunks, threads);
        if (a.put_index >= 0 && !send(a.common.all_reduce, a.put, a.vectors[a.put_index], threads))
            return;
        publish(a.common, a.reduce, chunks.count);
    });
}

template void fused(device&, const fused_arguments<double>&);
template void fused(device&, const fused_arguments<float>&);

} // namespace krylith::host
