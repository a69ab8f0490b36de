// Compressed sparse row matrix on the host: the form in which every matrix enters the library.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

/// Rows are 0..rows-1; the entries of row i are [row_offsets[i], row_offsets[i + 1]).
/// Offsets are 64 bits wide, columns 32 (columns <= 2^31 - 1, checked on the way in).
/// Columns ascend strictly within a row once canonical() holds.
template <class T>
struct csr_matrix {
    using value_type = T;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::int64_t> row_offsets{0}; ///< rows + 1 entries
    std::vector<std::int32_t> column_indices; ///< nnz entries
    std::vector<T> values;                    ///< nnz entries

    [[nodiscard]] std::int64_t nnz() const noexcept {
        return static_cast<std::int64_t>(column_indices.size());
    }

    /// Same sizes, same pattern, equal values (so 0 == -0, and a NaN differs from itself).
    friend bool operator==(const csr_matrix&, const csr_matrix&) = default;
};

/// Throws input_error naming the first offence (row, position, value, what is allowed): sizes that
/// disagree, offsets that don't start at 0 or descend, columns out of range. Values may be
/// anything: a NaN is found, and said, by the solver. O(rows + nnz).
template <class T>
void validate(const csr_matrix<T>& matrix);

/// True if columns ascend strictly in every row (sorted, no duplicates). O(nnz).
template <class T>
[[nodiscard]] bool canonical(const csr_matrix<T>& matrix);

/// The main diagonal, 0 where no entry is stored; length min(rows, columns). O(nnz).
template <class T>
[[nodiscard]] std::vector<T> diagonal(const csr_matrix<T>& matrix);

extern template void validate(const csr_matrix<double>&);
extern template void validate(const csr_matrix<float>&);
extern template bool canonical(const csr_matrix<double>&);
extern template bool canonical(const csr_matrix<float>&);
extern template std::vector<double> diagonal(const csr_matrix<double>&);
extern template std::vector<float> diagonal(const csr_matrix<float>&);

} // namespace krylith
