// What becomes of the results of rows on host devices, whatever computes them: y, dot products, the
// devices that need them. It is the twin of row_epilogue.cuh.
//
//     // a product, on the worker of its device
//     if (!kernel_prologue(a.common, reg)) return;
//     row_epilogue<T> results(a, parts);
//     if (!results.before_writing()) return;
//     if (!results.before_reading(boundary)) return; // each thread, before it reads x
//     auto part = results.part(number);              // for each part of the rows, by any thread
//     part.rows(begin, end, multiply);               // as often as it takes
//     part.leave();
//     results.leave();                               // one thread, after all parts
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/epilogue/row_chunks.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/execution/host_signal.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/kernels/host_dot.hpp>

namespace krylith::host {

/// Computes rows and adds up their dot products, on one thread.
template <class T>
class row_part {
public:
    /// Rows that lie in the cache together: at most so many a call of rows() are sent from there.
    static constexpr std::int64_t tile = tile_size<T>;

    row_part(const spmv_arguments<T>& a, double* partials, std::int64_t parts)
        : a_(a), partials_(partials), parts_(parts) {}

    /// Takes rows [begin, end) of the block. multiply(y, alpha, beta, first, last) computes y =
    /// alpha A x + beta y for rows [first, last) of them, the first of which is y[0], and does not
    /// read y where beta is 0. It is called once for each row that is no padding.
    template <class Multiply>
    void rows(std::int64_t begin, std::int64_t end, const Multiply& multiply) {
        for_row_chunks(a_.map, begin, end, [&](const row_chunk& chunk) {
            if (chunk.begin == chunk.end) return;
            if (a_.put.targets != nullptr) return for_owners(chunk.begin, chunk.end, multiply);
            const std::int64_t count = chunk.end - chunk.begin;
            const std::int64_t to = chunk.begin + chunk.shift;
            T* const y = a_.y + to;
            multiply(y, a_.alpha, a_.beta, chunk.begin, chunk.end);
            if (chunk.counted) add_dots(y, to, count);
            for (int k = 0; k < a_.put.channel.receivers && chunk.sent; ++k)
                std::copy_n(y, count, a_.put.copies[k] + to);
        });
    }

    /// Takes rows [from, to) of product = A x, or of y itself.
    void take(const T* product, std::int64_t from, std::int64_t to) {
        rows(from, to, [&](T* y, T alpha, T beta, std::int64_t begin, std::int64_t end) {
            if (product == a_.y) return;
            for (std::int64_t i = begin; i < end; ++i)
                y[i - begin] = alpha * product[i] + (beta != T(0) ? beta * y[i - begin] : T(0));
        });
    }

    /// Keeps the dot products, after the last rows of the part.
    void leave() const {
        for (int d = 0; d < a_.reduce.count; ++d) partials_[d * parts_] = sums_[d];
    }

private:
    /// Computes rows that others own; each result goes to a place of its own.
    template <class Multiply>
    void for_owners(std::int64_t begin, std::int64_t end, const Multiply& multiply) const {
        T results[tile];
        for (std::int64_t first = begin; first < end; first += tile) {
            const std::int64_t last = std::min(end, first + tile);
            multiply(results, a_.alpha, T{0}, first, last);
            for (std::int64_t row = first; row < last; ++row)
                *a_.put.targets[row] = results[row - first];
        }
    }

    /// Adds up the dot products of rows [first, first + count) but for late ones.
    void add_dots(const T* y, std::int64_t first, std::int64_t count) {
        const std::int64_t late = a_.partials.first_row;
        const std::int64_t before = std::clamp<std::int64_t>(late - first, 0, count);
        const std::int64_t after =
            std::clamp<std::int64_t>(late + a_.partials.count - first, 0, count);
        for (int d = 0; d < a_.reduce.count; ++d) {
            const T* const with = a_.dot_with[d] != nullptr ? a_.dot_with[d] + first : y;
            if (before == after) {
                add_dot(sums_[d], count, y, with);
                continue;
            }
            add_dot(sums_[d], before, y, with);
            add_dot(sums_[d], count - after, y + after, with + after);
        }
    }

    const spmv_arguments<T>& a_;
    double* partials_; ///< of the first dot product, `parts_` apart
    std::int64_t parts_;
    double sums_[max_spmv_dots] = {};
};

template <class T>
class row_epilogue {
public:
    /// Tells the peers that the last results are read. Dot products are sums over `parts` parts of
    /// the rows, which are added in their order.
    row_epilogue(const spmv_arguments<T>& a, std::int64_t parts) : a_(a), parts_(parts) {
        const channel_view& channel = a.put.channel;
        if (!a.put.ordered && channel.peer_credits != nullptr)
            tell(channel.peer_credits, channel.senders, *channel.put_count + 1);
    }

    /// Comes before the first rows, on one thread. False: a peer has failed, and the product must
    /// end without leave().
    [[nodiscard]] bool before_writing() const {
        const channel_view& channel = a_.put.channel;
        if (channel.receivers == 0 || a_.put.ordered) return true;
        return wait_for_counts(a_.common.all_reduce, channel.credits, channel.receivers,
                               *channel.put_count + 1);
    }

    /// Comes before the entries of x for some rows are read: where any of them is of the boundary,
    /// it waits for what peers send. Each thread waits by itself, and so sees the peers' entries.
    /// False: a peer has failed, and these rows must not be computed.
    [[nodiscard]] bool before_reading(bool boundary) const {
        return !boundary || wait_for(a_.common.all_reduce, a_.ghosts);
    }

    [[nodiscard]] row_part<T> part(std::int64_t number) const {
        return {a_, a_.reduce.partials + number, parts_};
    }

    /// Ends the product: late rows, the dot products, and what peers wait for.
    void leave() const {
        if (!wait_for(a_.common.all_reduce, a_.partials.arrived)) return;
        if (failed(a_.common.all_reduce)) return;
        for (std::int32_t m = 0; m < a_.partials.count; ++m) complete(m);
        if (a_.credit.senders != 0) {
            tell(a_.credit.peer_credits, a_.credit.senders, *a_.credit.put_count);
            *a_.credit.credited = *a_.credit.put_count;
        }
        const channel_view& channel = a_.put.channel;
        if (channel.receivers != 0) tell(channel.signals, channel.receivers, ++*channel.put_count);
        if (a_.partials.arrived.senders != 0)
            tell(a_.partials.peer_credits, a_.partials.arrived.senders, ++*a_.partials.next);
        publish(a_.common, a_.reduce, parts_);
    }

private:
    /// Adds the peers' sums to late row m, and its dot products to those of part 0.
    void complete(std::int32_t m) const {
        const std::int64_t row = a_.partials.rows[m];
        const T y = a_.y[row] += a_.alpha * a_.partials.sum(m);
        for (int d = 0; d < a_.reduce.count; ++d)
            a_.reduce.partials[d * parts_] +=
                static_cast<double>(y) *
                static_cast<double>(a_.dot_with[d] != nullptr ? a_.dot_with[d][row] : y);
    }

    const spmv_arguments<T>& a_;
    std::int64_t parts_;
};

} // namespace krylith::host
