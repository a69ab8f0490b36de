// Rows of C = A B on one thread (Gustavson, Two fast algorithms for sparse matrices: multiplication
// and permuted transposition, ACM TOMS 4, 1978).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/spgemm/column_set.hpp>
#include <krylith/sparse/spgemm/column_sums.hpp>
#include <krylith/sparse/spgemm/entry_list.hpp>
#include <krylith/sparse/spgemm/marked_columns.hpp>
#include <krylith/sparse/spgemm/row_shares.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::host {

/// Counts the entries of rows [begin, end) of C.
inline std::int64_t count_entries(const csr_pattern& a, const csr_pattern& b, std::int64_t begin,
                                  std::int64_t end) {
    std::vector<std::int64_t> last(as_size(b.columns), -1); // the last row that had each column
    std::int64_t count = 0;
    for (std::int64_t i = begin; i < end; ++i)
        for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k)
            for (std::int64_t j = b.offsets[a.indices[k]]; j < b.offsets[a.indices[k] + 1]; ++j) {
                std::int64_t& of = last[as_size(b.indices[j])];
                count += of != i ? 1 : 0;
                of = i;
            }
    return count;
}

/// What a thread makes of the rows of C: those from `begin` to `end`.
struct row_share {
    row_place begin;
    row_place end;
    std::int64_t products_before = 0; ///< of the rows before begin.row
    std::int64_t head = 0; ///< entries found of row begin.row, where the share does not have it all
    std::int64_t tail = 0; ///< entries found of row end.row
};

/// The columns [begin, end) of a row of C, and its products there.
struct row_piece {
    std::int64_t row;
    std::int64_t begin;
    std::int64_t end;
    std::int64_t products;
    bool whole; ///< all columns of the row

    [[nodiscard]] std::size_t most_entries() const {
        return as_size(std::min(products, end - begin));
    }
};

/// What a share has of a row of so many products.
inline row_piece piece_of(const row_share& share, std::int64_t row, std::int64_t columns,
                          std::int64_t products) {
    row_piece piece{row, 0, columns, products, true};
    if (row == share.end.row) piece = {row, 0, share.end.column, share.end.products, false};
    if (row == share.begin.row && share.begin.column > 0) {
        piece.begin = share.begin.column;
        piece.products -= share.begin.products;
        piece.whole = false;
    }
    return piece;
}

/// The row behind those that lie before a place, in part or whole.
inline std::int64_t rows_up_to(const row_place& end) {
    return end.row + (end.column > 0 ? 1 : 0);
}

/// Calls body(piece, done) for each row of a share, with the part of the rows before. counts[row]
/// has the products up to the end of each row when it begins; body returns how many entries it
/// found, which is written there for whole rows. Those of others go to head and tail of the share,
/// since other threads read the products.
template <class Body>
void for_each_piece(row_share& of, std::int64_t columns, std::int64_t* counts, const Body& body) {
    const row_share share = of; // no store to counts can be to this one
    std::int64_t before = share.products_before;
    const std::int64_t end = rows_up_to(share.end);
    for (std::int64_t row = share.begin.row; row < end; ++row) {
        const row_piece piece = piece_of(share, row, columns, counts[row] - before);
        before = counts[row];
        const std::int64_t found = body(piece, static_cast<double>(row - share.begin.row) /
                                                   static_cast<double>(end - share.begin.row));
        (piece.whole ? counts[row] : piece.begin > 0 ? of.head : of.tail) = found;
    }
}

/// Calls body(k, first, last) for each entry k of a row of A, with the entries of B's row k.
template <class A, class B, class Body>
void for_each_row_of_b(const A& a, const B& b, std::int64_t row, const Body& body) {
    for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k)
        body(k, b.indices + b.offsets[a.indices[k]], b.indices + b.offsets[a.indices[k] + 1]);
}

/// visit_products() for a piece of a row. Where columns are scattered, no processor could predict
/// which entries of short rows are inside, so that nothing branches on it.
template <class Term, class A, class B, class MakeTerm, class Direct, class Gathered>
[[gnu::noinline]] void visit_products_within(const A& a, const B& b, const row_piece& piece,
                                             const MakeTerm& term, const Direct& direct,
                                             const Gathered& gathered) {
    constexpr std::int64_t short_row = 16;
    constexpr int rows_at_once = 32;
    std::int32_t columns[rows_at_once * short_row];
    Term terms[rows_at_once * short_row];
    std::size_t count = 0;
    int rows = 0;
    const auto flush = [&] {
        gathered(columns, terms, count);
        count = 0;
        rows = 0;
    };
    const auto width = static_cast<std::uint32_t>(piece.end - piece.begin);
    for_each_row_of_b(
        a, b, piece.row, [&](std::int64_t k, const std::int32_t* first, const std::int32_t* last) {
            if (first == last) return;
            if (count == 0) { // where columns are near each other, most rows are outside or inside
                if (last[-1] < piece.begin || *first >= piece.end) return;
                if (*first >= piece.begin && last[-1] < piece.end) return direct(k, first, last);
            }
            if (last - first > short_row) {
                flush();
                first = std::lower_bound(first, last, piece.begin);
                return direct(k, first, std::lower_bound(first, last, piece.end));
            }
            for (; first < last; ++first) {
                columns[count] = *first;
                terms[count] = term(k, first - b.indices);
                count += static_cast<std::uint32_t>(*first - piece.begin) < width ? 1 : 0;
            }
            if (++rows == rows_at_once) flush();
        });
    flush();
}

/// Visits the products of a row, in the order of the entries k of A: calls direct(k, first, last)
/// with the entries of B's row k that lie in the columns of the piece, or for several short rows
/// gathered(columns, terms, count) with term(k, j) of their entries j of B that lie there.
template <class Term, class A, class B, class MakeTerm, class Direct, class Gathered>
void visit_products(const A& a, const B& b, const row_piece& piece, const MakeTerm& term,
                    const Direct& direct, const Gathered& gathered) {
    if (piece.whole)
        for_each_row_of_b(a, b, piece.row, direct);
    else
        visit_products_within<Term>(a, b, piece, term, direct, gathered);
}

/// Appends the columns of the rows of a share, and writes how many each has as for_each_piece()
/// says.
inline void count_rows(const csr_pattern& a, const csr_pattern& b, row_share& share,
                       column_list& columns, std::int64_t* counts) {
    column_set set(b.columns);
    marked_columns marked(b.columns);
    for_each_piece(share, b.columns, counts, [&](const row_piece& piece, double done) {
        columns.make_room(piece.most_entries() + column_set::slack, done);
        const std::size_t size = columns.size();
        if (piece.whole && piece.products <= marked_columns::most_products) {
            marked.begin();
            for_each_row_of_b(a, b, piece.row,
                              [&](std::int64_t, const std::int32_t* first,
                                  const std::int32_t* last) { marked.insert(first, last); });
            columns.grow_to(marked.take(columns.end()));
        } else {
            set.begin(as_size(piece.products));
            visit_products<char>(
                a, b, piece, [](std::int64_t, std::int64_t) { return '\0'; },
                [&](std::int64_t, const std::int32_t* first, const std::int32_t* last) {
                    set.insert(first, last);
                },
                [&](const std::int32_t* gathered, const char*, std::size_t count) {
                    set.insert(gathered, gathered + count);
                });
            columns.grow_to(set.take(columns.end()));
        }
        return static_cast<std::int64_t>(columns.size() - size);
    });
}

/// The numeric phase of the rows of a share, with a sum for each column of C. Products and sums are
/// rounded apart, as on GPUs: this must be compiled without fused multiply-add.
template <class T>
void add_up_rows(const device_csr_view<T>& a, const device_csr_view<T>& b, const row_share& share,
                 const device_csr_view<T>& pattern, T* values, std::vector<T>& sums) {
    sums.resize(as_size(b.columns));
    T* const sum = sums.data();
    for (std::int64_t row = share.begin.row; row < rows_up_to(share.end); ++row) {
        const row_piece piece = piece_of(share, row, b.columns, 0);
        const std::int32_t* first = pattern.indices + pattern.offsets[row];
        const std::int32_t* last = pattern.indices + pattern.offsets[row + 1];
        if (!piece.whole) {
            first = std::lower_bound(first, last, piece.begin);
            last = std::lower_bound(first, last, piece.end);
        }
        for (const std::int32_t* q = first; q < last; ++q) sum[*q] = T{0};
        visit_products<T>(
            a, b, piece, [&](std::int64_t k, std::int64_t j) { return a.values[k] * b.values[j]; },
            [&](std::int64_t k, const std::int32_t* from, const std::int32_t* to) {
                const T factor = a.values[k];
                const T* value = b.values + (from - b.indices);
                for (; from < to; ++from, ++value) {
                    const T product = factor * *value;
                    sum[*from] += product;
                }
            },
            [&](const std::int32_t* columns, const T* products, std::size_t count) {
                for (std::size_t i = 0; i < count; ++i) sum[columns[i]] += products[i];
            });
        T* to = values + (first - pattern.indices);
        for (; first < last; ++first, ++to) *to = sum[*first];
    }
}

/// Both phases of the rows of a share at once: appends the columns and values of C, and writes
/// counts as count_rows() does. Sums are made in the order and with the roundings of add_up_rows().
template <class T>
void multiply_rows_at_once(const device_csr_view<T>& a, const device_csr_view<T>& b,
                           row_share& share, column_list& columns, entry_list<T>& values,
                           std::int64_t* counts) {
    column_sums<T> row(b.columns);
    for_each_piece(share, b.columns, counts, [&](const row_piece& piece, double done) {
        const std::size_t most = piece.most_entries();
        columns.make_room(most, done);
        values.make_room(most, done);
        row.begin(most);
        visit_products<T>(
            a, b, piece, [&](std::int64_t k, std::int64_t j) { return a.values[k] * b.values[j]; },
            [&](std::int64_t k, const std::int32_t* first, const std::int32_t* last) {
                row.add(first, last, b.values + (first - b.indices), a.values[k]);
            },
            [&](const std::int32_t* gathered, const T* products, std::size_t count) {
                row.add(gathered, gathered + count, products, T{1});
            });
        const std::size_t found = row.take(columns.end(), values.end());
        columns.grow_by(found);
        values.grow_by(found);
        return static_cast<std::int64_t>(found);
    });
}

} // namespace krylith::host
