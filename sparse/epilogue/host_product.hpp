// The parts that all products of host devices have: agreeing with peers before y is sent, and the
// epilogue.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/scalar/host_context.hpp>
#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

/// Gives credit to the peers: this rank's copy of y may be overwritten. Waits for theirs.
template <class T>
[[nodiscard]] bool open_results(const all_reduce_slots& all_reduce, const result_put<T>& put) {
    if (put.to == 0 || put.ordered) return true;
    if (put.peer_credits != nullptr) tell(all_reduce, put.peer_credits, put.to, *put.put_count + 1);
    return wait_for_words(all_reduce, put.credits, put.to, *put.put_count + 1);
}

/// Computes y = alpha A x + beta y from A x, and the rest of what a product does with its rows.
template <class T>
void write_product(const spmv_arguments<T>& a, const T* product, std::int64_t rows) {
    if (product != a.y)
        for (std::int64_t i = 0; i < rows; ++i)
            a.y[i] = a.alpha * product[i] + (a.beta != T(0) ? a.beta * a.y[i] : T(0));
    for (int d = 0; d < a.reduce.count; ++d) {
        a.reduce.partials[d] = 0;
        add_dot(a.reduce.partials[d], rows, a.y, a.dot_with[d] != nullptr ? a.dot_with[d] : a.y);
    }
    for (int j = 0; j < a.common.all_reduce.ranks; ++j)
        if ((a.put.to >> j & 1) != 0) std::copy_n(a.y, rows, a.put.copies[j]);
}

/// Ends a product after its rows: signals what was sent, gives credit for what was read, and posts
/// the dot products.
template <class T>
void product_epilogue(const spmv_arguments<T>& a, std::int64_t chunks) {
    const all_reduce_slots& all_reduce = a.common.all_reduce;
    if (failed(all_reduce)) return;
    if (a.credit.to != 0) {
        tell(all_reduce, a.credit.peer_credits, a.credit.to, *a.credit.put_count);
        *a.credit.credited = *a.credit.put_count;
    }
    if (a.put.to != 0) tell(all_reduce, a.put.sent, a.put.to, ++*a.put.put_count);
    if (a.partials.arrived.from != 0)
        tell(all_reduce, a.partials.peer_credits, a.partials.arrived.from, ++*a.partials.next);
    publish(a.common, a.reduce, chunks);
}

} // namespace krylith::host
