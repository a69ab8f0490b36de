// Kernels of all rows, on a host device.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/sparse/csr/csr_rows_host.hpp>
#include <krylith/sparse/merge/merge_path.hpp>
#include <krylith/spmspv/kernels/product_host.hpp>

namespace krylith::host {

/// The words of y's bits that a run of rows writes.
struct word_of_bits {
    std::int32_t number;
    std::uint32_t bits;
    bool whole; ///< the run has all its rows
};

/// The row kernels. Sparse: only entries of x whose bit is set count, and y gets bits.
template <class S, bool Sparse, class M>
class rows_of_product {
    using T = typename S::value_type;
    using sum_type = partial_sum<S>;

public:
    explicit rows_of_product(const spmspv::product_arguments<S, M>& a)
        : a_(a), few_(a.entries < a.x.size / 16) {}

    /// The sum of entries [begin, end), which are of one row.
    [[nodiscard]] sum_type sum(std::int32_t begin, std::int32_t end) const {
        sum_type result;
        if constexpr (spmspv::scales<S> && !Sparse) {
            result.value = row_product(a_.rows.indices + begin, a_.rows.values + begin, a_.x.dense,
                                       end - begin);
            result.any = true;
            return result;
        }
        if constexpr (Sparse && !S::first_suffices) {
            if (!few_) return sum_of_many(begin, end);
        }
        for (std::int32_t k = begin; k < end; ++k) {
            const std::int32_t column = a_.rows.indices[k];
            if constexpr (Sparse) {
                if (!has_bit(a_.x.bits, column)) continue;
            } else if constexpr (!S::reads_vector) {
                if (a_.x.dense[column] == S::absent()) continue;
            }
            T matrix_value{};
            T x{};
            if constexpr (S::reads_matrix) matrix_value = a_.rows.values[k];
            if constexpr (S::reads_vector) x = a_.x.dense[column];
            result.value = S::add(result.value, S::term(matrix_value, x, column));
            result.any = true;
            if constexpr (S::first_suffices) break;
        }
        return result;
    }

    [[nodiscard]] bool skipped(std::int32_t row) const {
        return a_.skip_rows != nullptr && has_bit(a_.skip_rows, row);
    }

    [[nodiscard]] sum_type sum_unless_skipped(std::int32_t row, std::int32_t begin,
                                              std::int32_t end) const {
        return skipped(row) ? sum_type{} : sum(begin, end);
    }

    void store(std::int32_t row, const sum_type& sum) const {
        T& y = a_.y.dense[row];
        if constexpr (spmspv::scales<S>) {
            const T result = a_.alpha * sum.value;
            y = a_.beta == T{0} ? result : result + a_.beta * y;
        } else {
            y = sum.value;
        }
    }

    /// Multiplies rows [first, last), and calls put(word_of_bits) for each word that has some of
    /// them.
    template <class Put>
    void multiply(std::int32_t first, std::int32_t last, const Put& put) const {
        const std::int32_t* const offsets = a_.rows.offsets;
        for (std::int32_t row = first; row < last;) {
            const std::int32_t word = row / 32;
            const std::int32_t end = last - word * 32 > 32 ? word * 32 + 32 : last;
            const bool whole = row % 32 == 0 && (end - row == 32 || end == a_.rows.major_size);
            std::uint32_t bits = 0;
            for (; row < end; ++row) {
                const sum_type found = sum_unless_skipped(row, offsets[row], offsets[row + 1]);
                store(row, found);
                bits |= static_cast<std::uint32_t>(found.any) << (row % 32);
            }
            put(word_of_bits{word, bits, whole});
        }
    }

private:
    /// The sum where x has many entries: all values of x are read, since a branch that can't be
    /// predicted takes longer (with half of them: 17 ms, not 5, for 1.8 million nonzeros).
    [[nodiscard]] sum_type sum_of_many(std::int32_t begin, std::int32_t end) const {
        T sum = S::absent();
        std::uint32_t any = 0;
        for (std::int32_t k = begin; k < end; ++k) {
            const std::int32_t column = a_.rows.indices[k];
            const std::uint32_t there = a_.x.bits[column / 32] >> (column % 32) & 1;
            T matrix_value{};
            if constexpr (S::reads_matrix) matrix_value = a_.rows.values[k];
            const T term = S::term(matrix_value, a_.x.dense[column], column);
            sum = S::add(sum, there != 0 ? term : S::absent());
            any |= there;
        }
        return {sum, any != 0};
    }

    const spmspv::product_arguments<S, M>& a_;
    bool few_; ///< x has few entries, as far as the host knows
};

template <class S, bool Sparse, class M>
void direct_rows(const spmspv::product_arguments<S, M>& a, int parts) {
    const rows_of_product<S, Sparse, M> rows(a);
    const std::int64_t words = a.y.words();
    for_ranges(parts, words, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t last = std::min<std::int64_t>(end * 32, a.rows.major_size);
        rows.multiply(static_cast<std::int32_t>(begin * 32), static_cast<std::int32_t>(last),
                      [&](const word_of_bits& word) {
                          if constexpr (Sparse) a.y.bits[word.number] = word.bits;
                      });
    });
}

/// Multiplies items [begin, end) of the merge path.
template <class S, bool Sparse, class M>
row_edge<S> multiply_row_items(const rows_of_product<S, Sparse, M>& rows,
                               const spmspv::product_arguments<S, M>& a, std::int64_t begin,
                               std::int64_t end) {
    const std::int32_t* const offsets = a.rows.offsets;
    row_edge<S> edge = {};
    edge.word[0] = edge.word[1] = -1;
    edge.first = rows_ended(offsets + 1, a.rows.major_size, begin);
    edge.last = rows_ended(offsets + 1, a.rows.major_size, end);
    const auto from = static_cast<std::int32_t>(begin - edge.first);
    const auto to = static_cast<std::int32_t>(end - edge.last);
    edge.cut = edge.first < a.rows.major_size && from > offsets[edge.first];
    std::int32_t row = edge.first;
    if (edge.cut && row < edge.last) {
        edge.head = rows.sum_unless_skipped(row, from, offsets[row + 1]);
        ++row;
    }
    rows.multiply(row, edge.last, [&](const word_of_bits& word) {
        if constexpr (!Sparse) return;
        if (word.whole) {
            a.y.bits[word.number] = word.bits;
        } else {
            const int slot = edge.word[0] < 0 ? 0 : 1; // the first and the last at most
            edge.word[slot] = word.number;
            edge.mask[slot] = word.bits;
        }
    });
    if (edge.last < a.rows.major_size)
        edge.carry = rows.sum_unless_skipped(edge.last, std::max(from, offsets[edge.last]), to);
    return edge;
}

/// Adds up the rows that several threads have parts of, in the order of threads, and joins the
/// words of bits that several threads have rows of.
template <class S, bool Sparse, class M>
void join_edges(const rows_of_product<S, Sparse, M>& rows, const spmspv::product_arguments<S, M>& a,
                const row_edge<S>* edges, int parts) {
    if constexpr (Sparse) {
        for (int part = 0; part < parts; ++part) {
            if (edges[part].cut) a.y.bits[edges[part].first / 32] = 0;
            for (const std::int32_t word : edges[part].word)
                if (word >= 0) a.y.bits[word] = 0;
        }
        for (int part = 0; part < parts; ++part)
            for (int slot = 0; slot < 2; ++slot)
                if (edges[part].word[slot] >= 0)
                    a.y.bits[edges[part].word[slot]] |= edges[part].mask[slot];
    }
    partial_sum<S> open;
    for (int part = 0; part < parts; ++part) {
        const row_edge<S>& edge = edges[part];
        if (edge.first == edge.last) { // no row ends here
            open.add(edge.carry);
            continue;
        }
        if (edge.cut) {
            open.add(edge.head);
            rows.store(edge.first, open);
            if constexpr (Sparse)
                a.y.bits[edge.first / 32] |= static_cast<std::uint32_t>(open.any)
                                             << (edge.first % 32);
        }
        open = edge.carry;
    }
}

template <class S, bool Sparse, class M>
void balanced_rows(const spmspv::product_arguments<S, M>& a, int parts) {
    const rows_of_product<S, Sparse, M> rows(a);
    const std::int64_t items = std::int64_t{a.rows.major_size} + a.rows.nonzeros;
    auto* const edges = reinterpret_cast<row_edge<S>*>(a.scratch);
    for_parts(parts, [&](int part) {
        edges[part] = multiply_row_items(rows, a, part_begin(items, part, parts),
                                         part_begin(items, part + 1, parts));
    });
    join_edges(rows, a, edges, parts);
}

template <class S, bool Sparse, class M>
void run_rows(spmspv::distribution assigned, const spmspv::product_arguments<S, M>& a,
              int threads) {
    const int parts = team_for(threads, std::int64_t{a.rows.major_size} + a.rows.nonzeros);
    if (parts > 1 && assigned == spmspv::distribution::balanced)
        balanced_rows<S, Sparse>(a, parts);
    else
        direct_rows<S, Sparse>(a, parts);
}

template <class S, class M>
void multiply_by_rows(spmspv::kernel k, const spmspv::product_arguments<S, M>& a, int threads) {
    if (spmspv::direction_of(k) == spmspv::direction::pull)
        run_rows<S, true>(spmspv::distribution_of(k), a, threads);
    else
        run_rows<S, false>(spmspv::distribution_of(k), a, threads);
}

} // namespace krylith::host
