// Matrices in Rutherford-Boeing and Harwell-Boeing files.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_format.hpp>

namespace krylith::rutherford_boeing {

/// Reads an assembled matrix: real, integer or pattern (values 1); symmetric, skew, unsymmetric or
/// rectangular. Entries of one place are summed. O(bytes), by up to 16 OpenMP threads.
template <class T>
[[nodiscard]] csr_matrix<T> read_file(files::input_file& file, const load_options& options);

} // namespace krylith::rutherford_boeing
