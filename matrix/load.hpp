// A matrix by the name that a user gives on the command line.
#pragma once

#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market/market_report.hpp>

namespace krylith {

/// Loads "gallery:NAME[:ARGUMENT...]" (matrix/gallery.hpp), the path of a binary CSR file, known by
/// its name (.kcsr) or its first bytes (matrix/kcsr.hpp), or that of a Matrix Market file, plain or
/// gzipped (matrix/matrix_market.hpp). Throws usage_error for a wrong gallery name or argument,
/// input_error for a file that can't be accepted. What a Matrix Market file held beside the matrix
/// goes to `options.report`, which is left alone for others.
template <class T>
[[nodiscard]] csr_matrix<T> load_matrix(std::string_view name, const market_options& options = {});

} // namespace krylith
