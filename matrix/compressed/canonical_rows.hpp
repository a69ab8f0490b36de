// Rows sorted, and entries of the same place summed.
#pragma once

#include <krylith/matrix/csr.hpp>

namespace krylith {

/// Makes a valid matrix canonical in place: columns ascend in each row, and entries of the same
/// place are summed in the order in which they stand. Returns how many were added to another.
/// O(nnz) where the rows are in order already, else plus a sort of those that aren't.
template <class T>
std::int64_t make_canonical(csr_matrix<T>& matrix);

} // namespace krylith
