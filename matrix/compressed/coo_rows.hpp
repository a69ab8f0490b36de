// Sorting coordinate entries by rows, and within rows by columns: stable and in parallel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <vector>

#include <omp.h>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// The number of threads that sort. Each reads all row indices and writes only the rows that it
/// owns: no atomics, entries stay in order. The indices are 4 of an entry's 16 bytes; beyond 16
/// threads reading them again costs more than it gains.
inline int sorting_threads(std::int64_t entries) {
    constexpr std::int64_t entries_worth_a_thread = 1 << 16;
    return static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(entries / entries_worth_a_thread, omp_get_max_threads()), 1, 16));
}

/// Returns offsets with offsets[i + 1] = entries of row i. row_of(k) is the row of entry k, or
/// negative for an entry to leave out.
template <class RowOf>
std::vector<std::int64_t> counted_rows(std::int64_t rows, std::int64_t entries,
                                       const RowOf& row_of) {
    std::vector<std::int64_t> offsets(as_size(rows) + 1, 0);
#pragma omp parallel num_threads(sorting_threads(entries))
    {
        const std::int64_t threads = omp_get_num_threads();
        const std::int64_t me = omp_get_thread_num();
        const std::int64_t first = rows * me / threads;
        const std::int64_t last = rows * (me + 1) / threads;
        for (std::int64_t k = 0; k < entries; ++k) {
            const std::int64_t row = row_of(k);
            if (first <= row && row < last) {
                ++offsets[as_size(row + 1)];
            }
        }
    }
    return offsets;
}

/// Calls put(place, k) for each entry that stays, the places being those of its row, in order.
/// `next` comes from counted_rows. While this runs, next[i + 1] is the place of the next entry of
/// row i; it starts where the row starts and stops where the next one starts: row offsets.
template <class RowOf, class Put>
void scatter_to_rows(std::vector<std::int64_t>& next, std::int64_t entries, const RowOf& row_of,
                     const Put& put) {
    const auto rows = static_cast<std::int64_t>(next.size()) - 1;
    std::exclusive_scan(next.begin() + 1, next.end(), next.begin() + 1, std::int64_t{0});
    const int team = sorting_threads(entries);
    std::vector<std::int64_t> first_row(as_size(team) + 1); // about equal entries a thread
    for (int t = 1; t < team; ++t) {
        first_row[as_size(t)] =
            std::lower_bound(next.begin() + 1, next.end(), entries / team * t) - next.begin() - 1;
    }
    first_row[as_size(team)] = rows;
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int t = 0; t < team; ++t) {
        const std::int64_t first = first_row[as_size(t)];
        const std::int64_t last = first_row[as_size(t + 1)];
        for (std::int64_t k = 0; k < entries; ++k) {
            const std::int64_t row = row_of(k);
            if (first <= row && row < last) {
                put(next[as_size(row + 1)]++, k);
            }
        }
    }
}

/// One row of a CSR matrix, which sorts stably, with whatever T the entries carry.
template <class T>
class row_entries {
public:
    row_entries(csr_matrix<T>& csr, std::int64_t row)
        : columns_(csr.column_indices.data() + csr.row_offsets[as_size(row)]),
          values_(csr.values.data() + csr.row_offsets[as_size(row)]),
          length_(as_size(csr.row_offsets[as_size(row + 1)] - csr.row_offsets[as_size(row)])) {}

    /// Returns whether no entry needs to move, and no two have the same column.
    [[nodiscard]] bool canonical() const {
        for (std::size_t k = 1; k < length_; ++k) {
            if (columns_[k - 1] >= columns_[k]) {
                return false;
            }
        }
        return true;
    }

    void sort() {
        constexpr std::size_t short_row = 32;
        length_ <= short_row ? sort_by_insertion() : sort_by_copying();
    }

    [[nodiscard]] std::size_t length() const noexcept { return length_; }
    [[nodiscard]] std::int32_t* columns() const noexcept { return columns_; }
    [[nodiscard]] T* values() const noexcept { return values_; }

private:
    void sort_by_insertion() {
        for (std::size_t k = 1; k < length_; ++k) {
            const std::int32_t column = columns_[k];
            const T value = values_[k];
            std::size_t hole = k;
            for (; hole > 0 && columns_[hole - 1] > column; --hole) {
                columns_[hole] = columns_[hole - 1];
                values_[hole] = values_[hole - 1];
            }
            columns_[hole] = column;
            values_[hole] = value;
        }
    }

    void sort_by_copying() {
        struct entry {
            std::int32_t column;
            T value;
        };
        std::vector<entry> entries(length_);
        for (std::size_t k = 0; k < length_; ++k) {
            entries[k] = {columns_[k], values_[k]};
        }
        std::ranges::stable_sort(entries, {}, &entry::column);
        for (std::size_t k = 0; k < length_; ++k) {
            columns_[k] = entries[k].column;
            values_[k] = entries[k].value;
        }
    }

    std::int32_t* columns_;
    T* values_;
    std::size_t length_;
};

/// Sorts each row and gives it to use(row_entries), which returns a bool; rows that are canonical
/// already are left alone. Returns true if any use did. Throws std::bad_alloc.
template <class T, class Use>
bool sort_rows(csr_matrix<T>& csr, const Use& use) {
    bool any = false;
    std::atomic<bool> out_of_memory = false; // an exception may not leave the parallel region
#pragma omp parallel for schedule(dynamic, 1024) reduction(|| : any)
    for (std::int64_t i = 0; i < csr.rows; ++i) {
        row_entries<T> row(csr, i);
        if (row.canonical()) {
            continue;
        }
        try {
            row.sort();
            any = use(row) || any;
        } catch (const std::bad_alloc&) {
            out_of_memory = true;
        }
    }
    if (out_of_memory) {
        throw std::bad_alloc();
    }
    return any;
}

/// Returns the entries by rows, each with the value value_of(k); they are not sorted within rows.
template <class T, class RowOf, class ColumnOf, class ValueOf>
csr_matrix<T> by_rows(std::int64_t rows, std::int64_t columns, std::int64_t entries,
                      const RowOf& row_of, const ColumnOf& column_of, const ValueOf& value_of) {
    csr_matrix<T> csr;
    csr.rows = rows;
    csr.columns = columns;
    csr.row_offsets = counted_rows(rows, entries, row_of);
    const std::int64_t kept =
        std::accumulate(csr.row_offsets.begin(), csr.row_offsets.end(), std::int64_t{0});
    resize_in_parallel(csr.column_indices, as_size(kept));
    resize_in_parallel(csr.values, as_size(kept));
    scatter_to_rows(csr.row_offsets, entries, row_of, [&](std::int64_t place, std::int64_t k) {
        csr.column_indices[as_size(place)] = column_of(k);
        csr.values[as_size(place)] = value_of(k);
    });
    return csr;
}

} // namespace krylith
