#include <krylith/matrix/compressed/canonical_rows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/matrix/compressed/coo_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

/// Marks an entry of a row that was added to an earlier one.
constexpr std::int32_t merged = -1;

/// Adds the entries of a sorted row that have the same column, in order. Leaves the sums in front
/// and the mark `merged` behind. Returns true if anything was added.
template <class T>
bool sum_duplicates(const row_entries<T>& row) {
    std::int32_t* const columns = row.columns();
    T* const values = row.values();
    std::size_t kept = 0;
    for (std::size_t k = 1; k < row.length(); ++k) {
        if (columns[k] == columns[kept]) {
            values[kept] += values[k];
        } else {
            ++kept;
            columns[kept] = columns[k];
            values[kept] = values[k];
        }
    }
    std::fill(columns + kept + 1, columns + row.length(), merged);
    return kept + 1 < row.length();
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
std::int64_t make_canonical(csr_matrix<T>& matrix) {
    const std::int64_t before = matrix.nnz();
    if (sort_rows(matrix, sum_duplicates<T>)) {
        remove_merged(matrix);
    }
    return before - matrix.nnz();
}

#define KRYLITH_INSTANTIATE(T) template std::int64_t make_canonical(csr_matrix<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
