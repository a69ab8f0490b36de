// Measured sparse products as lines of the report and of the table.
#pragma once

#include <string>

#include <krylith/bench/report.hpp>
#include <krylith/bench/spmspv_measure.hpp>

namespace krylith::bench {

/// Features of a matrix, once: {"matrix": .., "features": {"rows": .., ..}}.
[[nodiscard]] json matrix_row(const std::string& matrix, const spmspv::matrix_features& features);

/// {"matrix", "vector", "entries", "work", "count_us", "us": {GIVEN: {WANTED: [by kernel]}},
/// "void_because"}; microseconds with 4 digits.
[[nodiscard]] json product_row(const std::string& matrix, const test_vector& x,
                               const spmspv_numbers& numbers);

/// A header and lines of a table: a line for each form given and wanted.
[[nodiscard]] std::string spmspv_table_head();
[[nodiscard]] std::string spmspv_table_lines(const json& row);

} // namespace krylith::bench
