// A matrix by the name that a user gives on the command line.
#pragma once

#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market_report.hpp>

namespace krylith {

/// "gallery:NAME[:ARGUMENT...]" (matrix/gallery.hpp), the path of a binary CSR file, known by its
/// name (.kcsr) or its first bytes (matrix/binary_csr.hpp), or that of a Matrix Market file, plain
/// or gzipped (matrix/matrix_market.hpp). Throws usage_error for a wrong gallery name or argument,
/// input_error for a file that can't be accepted. What a Matrix Market file held beside the matrix
/// goes to `options.report`, which is left alone for others.
template <class T>
[[nodiscard]] csr_matrix<T> load_matrix(std::string_view name, const market_options& options = {});

extern template csr_matrix<double> load_matrix(std::string_view, const market_options&);
extern template csr_matrix<float> load_matrix(std::string_view, const market_options&);

} // namespace krylith
