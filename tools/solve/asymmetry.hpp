// Why CG may have failed: the matrix is not symmetric.
#pragma once

#include <string>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/statistics.hpp>

namespace krylith::tool {

/// The first entry that differs from its mirror by more than half the digits, in words; empty if
/// the matrix is symmetric. Columns must ascend within rows. O(nnz log(row length)).
template <class T>
[[nodiscard]] std::string asymmetry(const csr_matrix<T>& matrix);

/// "entry (1, 2) is 3, its mirror 3.5 (counted from 1)".
[[nodiscard]] std::string in_words(const mirrored_entry& entry);

} // namespace krylith::tool
