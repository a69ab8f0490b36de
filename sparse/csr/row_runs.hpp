// Runs of rows of a CSR block that are one stencil: each row has the entries of the row before, one
// column further. A product reads the first row of a run, and no other.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/sparse/csr/csr_rows_host.hpp>

namespace krylith::host {

/// Rows of fewer, in runs, are multiplied one by one.
inline constexpr std::int64_t least_run = 4;

/// Whether most of 4096 rows in the middle are in runs; false for small blocks, which lie in
/// caches.
template <class T, class Offset>
[[nodiscard]] bool has_row_runs(const csr_arrays<T, Offset>& a, std::int64_t rows);

/// The first rows of all runs, and the number of rows: [runs + 1]. Empty where has_row_runs()
/// says no, and where the rows of long runs are less than half of all. Columns are local ones. One
/// pass over the matrix by `threads` threads; the same for any number of them.
template <class T, class Offset>
[[nodiscard]] std::vector<std::int64_t> find_row_runs(const csr_arrays<T, Offset>& a,
                                                      std::int64_t rows, int threads);

/// multiply_rows() of rows in runs, which find_row_runs() has found, with the same bits.
template <class T, class Offset>
void multiply_in_runs(const csr_arrays<T, Offset>& a, const std::int64_t* runs, std::int64_t count,
                      const T* x, T* y, T alpha, T beta, std::int64_t begin, std::int64_t end);

} // namespace krylith::host
