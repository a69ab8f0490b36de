// Entries that a file gives in the order of CSR.
#pragma once

#include <krylith/matrix/coo.hpp>

namespace krylith::market {

/// Returns whether rows ascend, and columns within each, none twice. O(entries), by all OpenMP
/// threads.
template <class T>
[[nodiscard]] bool in_row_order(const coo_matrix<T>& coo);

/// Returns the matrix of such entries: their columns and values become its own, nothing is copied.
/// O(rows + entries). Memory beside the argument: 8 bytes a row.
template <class T>
[[nodiscard]] csr_matrix<T> from_row_order(coo_matrix<T>&& coo);

} // namespace krylith::market
