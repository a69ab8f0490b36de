// The entry lines of a Matrix Market file.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>

namespace krylith::market {

/// The entries of a coordinate file as they stand: unsorted, one half of a symmetric matrix.
/// Blank lines and comment lines between them are skipped. Throws input_error at the first
/// defect. Lines are read by all OpenMP threads; memory grows with what was read, not with what
/// the size line declares.
template <class T>
[[nodiscard]] coo_matrix<T> read_coordinates(line_source& source, const header& h);

/// The values of an array file as they stand, column by column, one a line. As above.
template <class T>
[[nodiscard]] std::vector<T> read_array(line_source& source, const header& h);

/// The number of the first line that gives an entry at (row, column), counted from 0, in a file
/// that was read before; 0 if it can't be read again.
[[nodiscard]] std::int64_t line_of_entry(line_source& source, const header& h, std::int64_t row,
                                         std::int64_t column);

extern template coo_matrix<double> read_coordinates(line_source&, const header&);
extern template coo_matrix<float> read_coordinates(line_source&, const header&);
extern template std::vector<double> read_array(line_source&, const header&);
extern template std::vector<float> read_array(line_source&, const header&);

} // namespace krylith::market
