// The parts of products on host devices: each runs as a task of the device, on up to `threads`
// threads, and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/spmspv/kernels/host_ranges.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::host {

/// A sum, and whether it has terms.
template <class S>
struct partial_sum {
    typename S::value_type value = S::absent();
    bool any = false;

    void add(const partial_sum& other) {
        value = S::add(value, other.value);
        any = any || other.any;
    }
};

/// The sums that a thread of a balanced row kernel leaves for the one that ends the product.
template <class S>
struct row_edge {
    partial_sum<S> head;   ///< sum of the first row, if it began before
    partial_sum<S> carry;  ///< sum of the row that is open at the end
    std::int32_t first;    ///< row that the thread begins in
    std::int32_t last;     ///< row that is open at its end
    bool cut;              ///< the first row began before
    std::uint32_t mask[2]; ///< bits of the words that are shared with other threads
    std::int32_t word[2];  ///< their numbers; -1: none
};

/// Sets y.dense before column kernels add to it: to beta y, or to absent.
template <class S, class M>
void prepare_dense(const spmspv::product_arguments<S, M>& a, int threads) {
    using T = typename S::value_type;
    T* const y = a.y.dense;
    for_ranges(team_for(threads, a.y.size), a.y.size, [&](std::int64_t begin, std::int64_t end) {
        if constexpr (spmspv::scales<S>) {
            if (a.beta != T{0}) {
                for (std::int64_t i = begin; i < end; ++i) y[i] *= a.beta;
                return;
            }
        }
        for (std::int64_t i = begin; i < end; ++i) y[i] = S::absent();
    });
}

} // namespace krylith::host
