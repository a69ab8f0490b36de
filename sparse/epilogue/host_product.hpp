// What the products of host devices share: agreeing with peers before y is sent, and the end.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/vector/kernels/host_dot.hpp>
#include <krylith/vector/scalar/host_context.hpp>
#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

/// Says that this rank's copy of y may be overwritten, and waits until the peers have said so.
template <class T>
[[nodiscard]] bool open_results(const mailbox& mail, const result_push<T>& push) {
    if (push.to == 0 || push.ordered) return true;
    if (push.readies != nullptr) tell(mail, push.readies, push.to, *push.pushed + 1);
    return wait_for_words(mail, push.ready, push.to, *push.pushed + 1);
}

/// y = alpha A x + beta y from A x, and the rest of what a product does to its rows.
template <class T>
void write_product(const spmv_arguments<T>& a, const T* product, std::int64_t rows) {
    if (product != a.y)
        for (std::int64_t i = 0; i < rows; ++i)
            a.y[i] = a.alpha * product[i] + (a.beta != T(0) ? a.beta * a.y[i] : T(0));
    for (int d = 0; d < a.reduce.count; ++d) {
        a.reduce.partials[d] = 0;
        add_dot(a.reduce.partials[d], rows, a.y, a.dot_with[d] != nullptr ? a.dot_with[d] : a.y);
    }
    for (int j = 0; j < a.common.mail.ranks; ++j)
        if ((a.push.to >> j & 1) != 0) std::copy_n(a.y, rows, a.push.copies[j]);
}

/// After the rows: tells peers what was read and sent, and posts the dot products.
template <class T>
void finish_product(const spmv_arguments<T>& a, std::int64_t chunks) {
    const mailbox& mail = a.common.mail;
    if (failed(mail)) return;
    if (a.acknowledge.to != 0) {
        tell(mail, a.acknowledge.readies, a.acknowledge.to, *a.acknowledge.pushed);
        *a.acknowledge.acknowledged = *a.acknowledge.pushed;
    }
    if (a.push.to != 0) tell(mail, a.push.sent, a.push.to, ++*a.push.pushed);
    if (a.partials.arrived.from != 0)
        tell(mail, a.partials.readies, a.partials.arrived.from, ++*a.partials.next);
    publish(a.common, a.reduce, chunks);
}

} // namespace krylith::host
