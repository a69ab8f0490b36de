// Measured sparse products as lines of the report and of the table.
#pragma once

#include <span>
#include <string>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/spmspv/spmspv_measure.hpp>

namespace krylith::bench {

/// Features of a matrix, once: {"matrix": .., "features": {"rows": .., ..}}.
[[nodiscard]] json matrix_row(const std::string& matrix, const spmspv::matrix_features& features);

/// {"matrix", "vector", "entries", "work", "count_us", "us": {GIVEN: {WANTED: [by kernel]}},
/// "void_because"}; microseconds with 4 digits; of the kernels that were timed, in their order.
[[nodiscard]] json product_row(const std::string& matrix, const test_vector& x,
                               const spmspv_numbers& numbers);

/// A header and lines of a table: a line for each form given and wanted. `kernels`: those that the
/// row has times of.
[[nodiscard]] std::string spmspv_table_head();
[[nodiscard]] std::string spmspv_table_lines(const json& row,
                                             std::span<const spmspv::kernel> kernels);

} // namespace krylith::bench
