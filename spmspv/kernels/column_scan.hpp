// The columns that a sparse x touches, for threads of a host device: the places of the entries of
// each column in the sequence of all that are multiplied.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/spmspv/kernels/host_ranges.hpp>
#include <krylith/spmspv/product.hpp>

namespace krylith::host {

/// Computes starts[e] = entries of columns before that of entry e of x, [count + 1]. Returns
/// starts[count]. No sum exceeds the nonzeros of the matrix, since x has each column once.
/// O(count). `sums`: [most_threads].
template <class S, class M>
std::int32_t scan_columns(const spmspv::product_arguments<S, M>& a, std::int32_t* starts,
                          std::int32_t* sums, int threads) {
    const std::int64_t count = *a.x.count;
    const std::int32_t* const offsets = a.columns.offsets;
    const auto length = [&](std::int64_t e) {
        const std::int32_t column = a.x.indices[e];
        return offsets[column + 1] - offsets[column];
    };
    const int parts = team_for(threads, count);
    const auto sum_of = [&](int part) {
        std::int32_t sum = 0;
        const std::int64_t end = part_begin(count, part + 1, parts);
        for (std::int64_t e = part_begin(count, part, parts); e < end; ++e) sum += length(e);
        return sum;
    };
    count_and_place(parts, sums, sum_of, [&](int part, std::int32_t next) {
        const std::int64_t end = part_begin(count, part + 1, parts);
        for (std::int64_t e = part_begin(count, part, parts); e < end; ++e) {
            starts[e] = next;
            next += length(e);
        }
        if (part + 1 == parts) starts[count] = next;
    });
    return starts[count];
}

/// Entries [begin, end) of the column of entry e of x.
struct column_chunk {
    std::int64_t e;
    std::int32_t begin;
    std::int32_t end;
};

/// Calls body(chunk) for entries [begin, end) of x, whole columns.
template <class S, class M, class Body>
void for_columns(const spmspv::product_arguments<S, M>& a, std::int64_t begin, std::int64_t end,
                 const Body& body) {
    for (std::int64_t e = begin; e < end; ++e) {
        const std::int32_t column = a.x.indices[e];
        body(column_chunk{e, a.columns.offsets[column], a.columns.offsets[column + 1]});
    }
}

/// Does the same for items [begin, end) of the sequence: the first and last column may be cut.
template <class S, class M, class Body>
void for_items(const spmspv::product_arguments<S, M>& a, const std::int32_t* starts,
               std::int64_t begin, std::int64_t end, const Body& body) {
    if (begin >= end) return;
    const std::int32_t* const last = starts + *a.x.count;
    std::int64_t e = std::upper_bound(starts, last, begin) - starts - 1;
    for (std::int64_t item = begin; item < end; ++e) {
        const std::int64_t length = std::min<std::int64_t>(starts[e + 1], end) - item;
        if (length == 0) continue; // an empty column
        const std::int64_t from = a.columns.offsets[a.x.indices[e]] + (item - starts[e]);
        body(column_chunk{e, static_cast<std::int32_t>(from),
                          static_cast<std::int32_t>(from + length)});
        item += length;
    }
}

/// The number that terms of entry e of x are multiplied by, alpha included.
template <class S, class M>
[[nodiscard]] typename S::value_type factor(const spmspv::product_arguments<S, M>& a,
                                            std::int64_t e) {
    if constexpr (spmspv::scales<S>)
        return a.alpha * a.x.values[e];
    else if constexpr (S::reads_vector)
        return a.x.values[e];
    else
        return {};
}

/// Calls put(k, row, term) for each entry k of a chunk whose row is not skipped.
template <class S, class M, class Put>
void for_terms(const spmspv::product_arguments<S, M>& a, const column_chunk& chunk,
               const Put& put) {
    using T = typename S::value_type;
    const std::int32_t column = a.x.indices[chunk.e];
    const T x = factor(a, chunk.e);
    for (std::int32_t k = chunk.begin; k < chunk.end; ++k) {
        const std::int32_t row = a.columns.indices[k];
        if (a.skip_rows != nullptr && has_bit(a.skip_rows, row)) continue;
        if constexpr (S::reads_matrix)
            put(k, row, S::term(a.columns.values[k], x, column));
        else
            put(k, row, S::term(T{}, x, column));
    }
}

} // namespace krylith::host
