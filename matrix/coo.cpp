#include <krylith/matrix/coo.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <numeric>
#include <span>
#include <string>

#include <omp.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/first_touch.hpp>
#include <krylith/matrix/index_width.hpp>

namespace krylith {
namespace {

/// Marks an entry of a row that was added to an earlier one.
constexpr std::int32_t merged = -1;

void validate_size(const char* name, std::int64_t size) {
    if (size < 0 || size > index_limit) {
        throw input_error(std::string("COO matrix: ") + name + " is " + std::to_string(size) +
                          ", allowed are 0 to " + std::to_string(index_limit));
    }
}

void validate_indices(const char* name, std::span<const std::int32_t> indices, std::int64_t limit) {
    const auto count = static_cast<std::int64_t>(indices.size());
    std::int64_t first_bad = count;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < count; ++k) {
        if (indices[as_size(k)] < 0 || indices[as_size(k)] >= limit) {
            first_bad = std::min(first_bad, k);
        }
    }
    if (first_bad < count) {
        throw input_error(std::string("COO matrix: ") + name + "[" + std::to_string(first_bad) +
                          "] is " + std::to_string(indices[as_size(first_bad)]) +
                          ", allowed are 0 and more, below " + std::to_string(limit));
    }
}

/// Each thread reads all row indices and writes only the rows that it owns: no atomics, entries
/// stay in order. The indices are 4 of an entry's 16 bytes; beyond 16 threads reading them
/// again costs more than it gains.
int sorting_threads(std::int64_t entries) {
    constexpr std::int64_t entries_worth_a_thread = 1 << 16;
    return static_cast<int>(std::clamp<std::int64_t>(
        std::min<std::int64_t>(entries / entries_worth_a_thread, omp_get_max_threads()), 1, 16));
}

/// Returns offsets with offsets[i + 1] = entries of row i.
template <class T>
std::vector<std::int64_t> row_lengths(const coo_matrix<T>& coo) {
    std::vector<std::int64_t> offsets(as_size(coo.rows) + 1, 0);
#pragma omp parallel num_threads(sorting_threads(coo.entries()))
    {
        const std::int64_t threads = omp_get_num_threads();
        const std::int64_t me = omp_get_thread_num();
        const std::int64_t first = coo.rows * me / threads;
        const std::int64_t last = coo.rows * (me + 1) / threads;
        for (const std::int64_t row : coo.row_indices) {
            if (first <= row && row < last) {
                ++offsets[as_size(row + 1)];
            }
        }
    }
    return offsets;
}

/// Copies the entries to their rows, in order. While it runs, row_offsets[i + 1] is the place of
/// the next entry of row i; it starts where the row starts and stops where the next one starts.
template <class T>
void scatter(const coo_matrix<T>& coo, csr_matrix<T>& csr) {
    auto& next = csr.row_offsets;
    std::exclusive_scan(next.begin() + 1, next.end(), next.begin() + 1, std::int64_t{0});
    const std::int64_t entries = coo.entries();
    const int team = sorting_threads(entries);
    std::vector<std::int64_t> first_row(as_size(team) + 1); // about equal entries a thread
    for (int t = 1; t < team; ++t) {
        first_row[as_size(t)] =
            std::lower_bound(next.begin() + 1, next.end(), entries / team * t) - next.begin() - 1;
    }
    first_row[as_size(team)] = coo.rows;
#pragma omp parallel for schedule(static, 1) num_threads(team)
    for (int t = 0; t < team; ++t) {
        const std::int64_t first = first_row[as_size(t)];
        const std::int64_t last = first_row[as_size(t + 1)];
        for (std::int64_t k = 0; k < entries; ++k) {
            const std::int64_t row = coo.row_indices[as_size(k)];
            if (first <= row && row < last) {
                const std::int64_t place = next[as_size(row + 1)]++;
                csr.column_indices[as_size(place)] = coo.column_indices[as_size(k)];
                csr.values[as_size(place)] = coo.values[as_size(k)];
            }
        }
    }
}

/// One row of a CSR matrix; sorts stably and adds duplicates to the first of them.
template <class T>
class row_entries {
public:
    row_entries(csr_matrix<T>& csr, std::int64_t row)
        : columns_(csr.column_indices.data() + csr.row_offsets[as_size(row)]),
          values_(csr.values.data() + csr.row_offsets[as_size(row)]),
          length_(as_size(csr.row_offsets[as_size(row + 1)] - csr.row_offsets[as_size(row)])) {}

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

    /// Leaves the sums in front and the mark `merged` behind. True if anything was added.
    bool sum_duplicates() {
        std::size_t kept = 0;
        for (std::size_t k = 1; k < length_; ++k) {
            if (columns_[k] == columns_[kept]) {
                values_[kept] += values_[k];
            } else {
                ++kept;
                columns_[kept] = columns_[k];
                values_[kept] = values_[k];
            }
        }
        std::fill(columns_ + kept + 1, columns_ + length_, merged);
        return kept + 1 < length_;
    }

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

/// Sorts every row and sums its duplicates. True if there were duplicates.
template <class T>
bool canonicalise_rows(csr_matrix<T>& csr) {
    bool duplicates = false;
    std::atomic<bool> out_of_memory = false; // an exception may not leave the parallel region
#pragma omp parallel for schedule(dynamic, 1024) reduction(|| : duplicates)
    for (std::int64_t i = 0; i < csr.rows; ++i) {
        row_entries<T> row(csr, i);
        if (row.canonical()) {
            continue;
        }
        try {
            row.sort();
            duplicates = row.sum_duplicates() || duplicates;
        } catch (const std::bad_alloc&) {
            out_of_memory = true;
        }
    }
    if (out_of_memory) {
        throw std::bad_alloc();
    }
    return duplicates;
}

/// Closes the gaps that summed duplicates leave.
template <class T>
void remove_merged(csr_matrix<T>& csr) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (std::int64_t row = 0; row < csr.rows; ++row) {
        const std::int64_t end = csr.row_offsets[as_size(row + 1)];
        for (std::int64_t k = begin; k < end && csr.column_indices[as_size(k)] != merged; ++k) {
            csr.column_indices[as_size(kept)] = csr.column_indices[as_size(k)];
            csr.values[as_size(kept)] = csr.values[as_size(k)];
            ++kept;
        }
        csr.row_offsets[as_size(row + 1)] = kept;
        begin = end;
    }
    csr.column_indices.resize(as_size(kept));
    csr.column_indices.shrink_to_fit();
    csr.values.resize(as_size(kept));
    csr.values.shrink_to_fit();
}

} // namespace

template <class T>
void validate(const coo_matrix<T>& matrix) {
    validate_size("rows", matrix.rows);
    validate_size("columns", matrix.columns);
    if (matrix.column_indices.size() != matrix.row_indices.size() ||
        matrix.values.size() != matrix.row_indices.size()) {
        throw input_error("COO matrix: row_indices, column_indices and values have " +
                          std::to_string(matrix.row_indices.size()) + ", " +
                          std::to_string(matrix.column_indices.size()) + " and " +
                          std::to_string(matrix.values.size()) +
                          " entries, allowed is the same number");
    }
    validate_indices("row_indices", matrix.row_indices, matrix.rows);
    validate_indices("column_indices", matrix.column_indices, matrix.columns);
}

template <class T>
csr_matrix<T> to_csr(const coo_matrix<T>& matrix) {
    validate(matrix);
    csr_matrix<T> csr;
    csr.rows = matrix.rows;
    csr.columns = matrix.columns;
    csr.row_offsets = row_lengths(matrix);
    resize_in_parallel(csr.column_indices, as_size(matrix.entries()));
    resize_in_parallel(csr.values, as_size(matrix.entries()));
    scatter(matrix, csr);
    if (canonicalise_rows(csr)) {
        remove_merged(csr);
    }
    return csr;
}

template void validate(const coo_matrix<double>&);
template void validate(const coo_matrix<float>&);
template csr_matrix<double> to_csr(const coo_matrix<double>&);
template csr_matrix<float> to_csr(const coo_matrix<float>&);

} // namespace krylith
