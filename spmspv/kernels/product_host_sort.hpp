// Kernels of the columns where x has entries, on a host device: terms are written in the order of
// x, sorted by rows, and summed up row by row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/spmspv/kernels/column_scan.hpp>
#include <krylith/spmspv/kernels/product_host.hpp>
#include <krylith/spmspv/kernels/sort_scratch.hpp>

namespace krylith::host {

/// One pass of a stable radix sort: by `bits` bits of the row from `shift` on.
template <class T>
void sort_digit(const term_list<T>& from, const term_list<T>& to, std::int64_t terms, int shift,
                int bits, std::int32_t* counters, int parts) {
    const std::int32_t digits = std::int32_t{1} << bits;
    const auto digit = [&](std::int64_t k) { return from.rows[k] >> shift & (digits - 1); };
    const auto counters_of = [&](int part) { return counters + std::int64_t{part} * digits; };
    for_parts(parts, [&](int part) {
        std::int32_t* const counts = counters_of(part);
        std::fill_n(counts, digits, 0);
        const std::int64_t end = part_begin(terms, part + 1, parts);
        for (std::int64_t k = part_begin(terms, part, parts); k < end; ++k) ++counts[digit(k)];
    });
    std::int32_t place = 0;
    for (std::int32_t d = 0; d < digits; ++d)
        for (int part = 0; part < parts; ++part)
            place += std::exchange(counters_of(part)[d], place);
    for_parts(parts, [&](int part) {
        std::int32_t* const next = counters_of(part);
        const std::int64_t end = part_begin(terms, part + 1, parts);
        for (std::int64_t k = part_begin(terms, part, parts); k < end; ++k) {
            const std::int32_t place_of_term = next[digit(k)]++;
            to.rows[place_of_term] = from.rows[k];
            to.terms[place_of_term] = from.terms[k];
        }
    });
}

/// Sorts lists[0] by rows, which are at most `most`; returns the list that has the result.
template <class T>
const term_list<T>& sort_by_rows(const sort_scratch<T>& s, std::int64_t terms, std::int32_t most,
                                 int parts) {
    constexpr std::int64_t many = 4096; // few terms are not worth many counters
    const int widest = terms < many ? 8 : most_digit_bits;
    const int key_bits = std::bit_width(static_cast<std::uint32_t>(most));
    const int passes = (key_bits + widest - 1) / widest;
    int current = 0;
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = key_bits * pass / passes;
        const int bits = key_bits * (pass + 1) / passes - shift;
        sort_digit(s.lists[current], s.lists[1 - current], terms, shift, bits, s.counters, parts);
        current = 1 - current;
    }
    return s.lists[current];
}

/// Adds up the terms of each row, which are consecutive, in their order; rows ascend.
template <class S>
class segment_sums {
    using T = typename S::value_type;

public:
    segment_sums(const term_list<T>& list, std::int64_t terms, const spmspv::vector_arrays<T>& y,
                 bool pairs)
        : list_(list), terms_(terms), y_(y), pairs_(pairs) {}

    [[nodiscard]] std::int32_t count_begun(std::int64_t tile) const {
        std::int32_t begun = 0;
        for (std::int64_t k = tile * sum_tile; k < end_of(tile); ++k) begun += begins(k);
        return begun;
    }

    /// Sums up the terms of a tile for the rows that begin in it, before which `before` rows begin
    /// in other tiles. Returns the sum for a row that began before, or absent.
    [[nodiscard]] T sum_up(std::int64_t tile, std::int32_t before) const {
        std::int64_t k = tile * sum_tile;
        const std::int64_t end = end_of(tile);
        T head = S::absent();
        for (; k < end && !begins(k); ++k) head = S::add(head, list_.terms[k]);
        while (k < end) {
            const std::int32_t row = list_.rows[k];
            T sum = list_.terms[k];
            for (++k; k < end && list_.rows[k] == row; ++k) sum = S::add(sum, list_.terms[k]);
            if (pairs_) {
                y_.indices[before] = row;
                y_.values[before++] = sum;
            } else {
                y_.dense[row] = S::add(y_.dense[row], sum);
            }
        }
        return head;
    }

    /// Adds the head of a tile to its row, of which `begun` rows have begun before.
    void add_head(std::int64_t tile, std::int32_t begun, T head) const {
        const std::int64_t k = tile * sum_tile;
        if (begins(k)) return;
        T& to = pairs_ ? y_.values[begun - 1] : y_.dense[list_.rows[k]];
        to = S::add(to, head);
    }

private:
    [[nodiscard]] std::int64_t end_of(std::int64_t tile) const {
        return std::min(terms_, (tile + 1) * sum_tile);
    }
    [[nodiscard]] bool begins(std::int64_t k) const {
        return k == 0 || list_.rows[k] != list_.rows[k - 1];
    }

    term_list<T> list_;
    std::int64_t terms_;
    spmspv::vector_arrays<T> y_;
    bool pairs_;
};

/// Writes the terms. Rows that are skipped get the number `skipped`, behind all others, and are not
/// counted.
template <class S, class M>
void write_terms(spmspv::distribution assigned, const spmspv::product_arguments<S, M>& a,
                 const sort_scratch<typename S::value_type>& s, std::int64_t terms, int parts) {
    const term_list<typename S::value_type> list = s.lists[0];
    const std::int32_t skipped = a.columns.across;
    const auto write = [&](const column_chunk& chunk) {
        const std::int64_t shift =
            std::int64_t{s.starts[chunk.e]} - a.columns.offsets[a.x.indices[chunk.e]];
        if (a.skip_rows != nullptr)
            std::fill(list.rows + chunk.begin + shift, list.rows + chunk.end + shift, skipped);
        for_terms(a, chunk, [&](std::int32_t k, std::int32_t row, auto term) {
            list.rows[k + shift] = row;
            list.terms[k + shift] = term;
        });
    };
    for_parts(parts, [&](int part) {
        if (assigned == spmspv::distribution::balanced)
            return for_items(a, s.starts, part_begin(terms, part, parts),
                             part_begin(terms, part + 1, parts), write);
        const std::int64_t entries = *a.x.count;
        for_columns(a, part_begin(entries, part, parts), part_begin(entries, part + 1, parts),
                    write);
    });
}

template <class S, class M>
void multiply_and_sort(spmspv::kernel k, const spmspv::product_arguments<S, M>& a, int threads) {
    using T = typename S::value_type;
    const auto s = sort_scratch<T>::in(a.scratch, a.entries, a.frontier_nonzeros);
    const std::int64_t found = scan_columns(a, s.starts, s.sums, threads);
    if (found > a.frontier_nonzeros)
        throw usage_error("sparse product: frontier_nonzeros was given as " +
                          std::to_string(a.frontier_nonzeros) + ", the columns of x have " +
                          std::to_string(found) + " entries");
    if (!a.pairs) prepare_dense(a, threads);
    const int parts = sort_team(threads, found);
    write_terms(spmspv::distribution_of(k), a, s, found, parts);
    const std::int32_t most = a.skip_rows != nullptr ? a.columns.across : a.columns.across - 1;
    const term_list<T>& sorted = sort_by_rows(s, found, std::max(most, 0), parts);
    const std::int64_t kept =
        a.skip_rows == nullptr
            ? found
            : std::lower_bound(sorted.rows, sorted.rows + found, a.columns.across) - sorted.rows;

    const segment_sums<S> rows(sorted, kept, a.y, a.pairs);
    const std::int64_t tiles = (kept + sum_tile - 1) / sum_tile;
    for_ranges(parts, tiles, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) s.begun[t] = rows.count_begun(t);
    });
    std::int32_t before = 0;
    for (std::int64_t t = 0; t < tiles; ++t) before += std::exchange(s.begun[t], before);
    for_ranges(parts, tiles, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) s.heads[t] = rows.sum_up(t, s.begun[t]);
    });
    for (std::int64_t t = 0; t < tiles; ++t) rows.add_head(t, s.begun[t], s.heads[t]);
    if (a.pairs) *a.y.count = before;
}

} // namespace krylith::host
