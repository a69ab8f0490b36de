// A matrix or a vector from Matrix Market text of any source.
#pragma once

#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/types/dense_columns.hpp>

namespace krylith::market {

/// The function behind read_matrix_market() and parse_matrix_market().
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix(line_source source, const load_options& options);

/// The function behind read_vector_market() and parse_vector_market().
template <class T>
[[nodiscard]] std::vector<T> read_vector(line_source source, const load_options& options);

/// Reads the columns of a general array; a file that read_vector() accepts is one column.
template <class T>
[[nodiscard]] dense_columns<T> read_columns(line_source source);

} // namespace krylith::market
