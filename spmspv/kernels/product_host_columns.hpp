// Kernels of the columns where x has entries, on a host device: terms are added as they come, by
// atomic operations where several threads do that.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <krylith/spmspv/kernels/column_scan.hpp>
#include <krylith/spmspv/kernels/product_host.hpp>

namespace krylith::host {

/// Adds terms to y.dense. Listed: y.bits and y.indices say which rows have any; a thread adds its
/// rows to the list some at a time. Shared: other threads do the same at the same time.
template <class S, bool Shared, bool Listed>
class row_adder {
    using T = typename S::value_type;
    static constexpr int room = Shared && Listed ? 256 : 1;

public:
    explicit row_adder(const spmspv::vector_arrays<T>& y) : y_(y) {}

    void add(std::int32_t row, T term) {
        if constexpr (Listed) {
            if (is_first(row)) list(row);
        }
        if constexpr (Shared)
            add_shared(std::atomic_ref<T>(y_.dense[row]), term);
        else
            y_.dense[row] = S::add(y_.dense[row], term);
    }

    void finish() {
        if constexpr (Listed && Shared) hand_over();
        if constexpr (Listed && !Shared) *y_.count = held_;
    }

private:
    [[nodiscard]] bool is_first(std::int32_t row) {
        const std::uint32_t bit = std::uint32_t{1} << (row % 32);
        if constexpr (!Shared) {
            std::uint32_t& word = y_.bits[row / 32];
            const bool first = (word & bit) == 0;
            word |= bit;
            return first;
        } else {
            const std::atomic_ref<std::uint32_t> word(y_.bits[row / 32]);
            if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
            return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
        }
    }

    void list(std::int32_t row) {
        if constexpr (!Shared) {
            y_.indices[held_++] = row;
        } else {
            rows_[held_++] = row;
            if (held_ == room) hand_over();
        }
    }

    void hand_over() {
        const std::int32_t to =
            std::atomic_ref(*y_.count).fetch_add(held_, std::memory_order_relaxed);
        std::copy_n(rows_, held_, y_.indices + to);
        held_ = 0;
    }

    static void add_shared(const std::atomic_ref<T>& to, T term) {
        T before = to.load(std::memory_order_relaxed);
        for (;;) {
            const T after = S::add(before, term);
            if (after == before) return;
            if (to.compare_exchange_weak(before, after, std::memory_order_relaxed)) return;
        }
    }

    spmspv::vector_arrays<T> y_;
    std::int32_t held_ = 0;
    std::int32_t rows_[room];
};

template <class S, bool Shared, bool Listed, class M>
void add_terms(spmspv::distribution assigned, const spmspv::product_arguments<S, M>& a, int parts,
               std::int64_t terms, const std::int32_t* starts) {
    for_parts(parts, [&](int part) {
        row_adder<S, Shared, Listed> rows(a.y);
        const auto add_chunk = [&](const column_chunk& chunk) {
            for_terms(a, chunk,
                      [&](std::int32_t, std::int32_t row, auto term) { rows.add(row, term); });
        };
        if (Shared && assigned == spmspv::distribution::balanced) {
            for_items(a, starts, part_begin(terms, part, parts), part_begin(terms, part + 1, parts),
                      add_chunk);
        } else {
            const std::int64_t entries = *a.x.count;
            for_columns(a, part_begin(entries, part, parts), part_begin(entries, part + 1, parts),
                        add_chunk);
        }
        rows.finish();
    });
}

/// An atomic addition takes 9 ns where a plain one takes 2: fewer threads are slower than one.
inline constexpr int fewest_that_pay = 4;

template <class S, bool Listed, class M>
void run_columns(spmspv::distribution assigned, const spmspv::product_arguments<S, M>& a,
                 int threads) {
    // The estimate is that of columns of mean length; the balanced kernel counts, if it has more
    // than one thread.
    const std::int64_t entries = *a.x.count;
    const std::int64_t mean =
        a.columns.major_size == 0
            ? 0
            : (a.columns.nonzeros + a.columns.major_size - 1) / a.columns.major_size;
    std::int64_t terms = entries * (mean + 1);
    auto* const sums = reinterpret_cast<std::int32_t*>(a.scratch);
    std::int32_t* const starts = sums + most_threads;
    if (threads >= fewest_that_pay && assigned == spmspv::distribution::balanced)
        terms = scan_columns(a, starts, sums, threads);
    const int team = team_for(threads, terms);
    const int parts = team < fewest_that_pay ? 1 : team;
    if constexpr (Listed) *a.y.count = 0;
    if (parts > 1)
        add_terms<S, true, Listed>(assigned, a, parts, terms, starts);
    else
        add_terms<S, false, Listed>(assigned, a, 1, terms, starts);
    if constexpr (Listed) {
        const std::int64_t found = *a.y.count;
        for_ranges(team_for(threads, found), found, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) a.y.values[k] = a.y.dense[a.y.indices[k]];
        });
    }
}

template <class S, class M>
void multiply_by_columns(spmspv::kernel k, const spmspv::product_arguments<S, M>& a, int threads) {
    if (a.pairs) return run_columns<S, true>(spmspv::distribution_of(k), a, threads);
    prepare_dense(a, threads);
    run_columns<S, false>(spmspv::distribution_of(k), a, threads);
}

} // namespace krylith::host
