// Rows of the report and lines of the table for measured sparse products.
#pragma once

#include <span>
#include <string>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/spmspv/spmspv_measure.hpp>

namespace krylith::bench {

/// The features of a matrix, written once: {"matrix": .., "features": {"rows": .., ..}}.
[[nodiscard]] json matrix_row(const std::string& matrix, const spmspv::matrix_features& features);

/// The row {"matrix", "vector", "entries", "work", "count_us", "us": {GIVEN: {WANTED: [by
/// kernel]}}, "void_because"}; microseconds with 4 digits, for the kernels that were timed, in
/// their order.
[[nodiscard]] json product_row(const std::string& matrix, const test_vector& x,
                               const spmspv_numbers& numbers);

/// The header of the table. Its lines are one for each form given and wanted. `kernels` are those
/// that the row has times of.
[[nodiscard]] std::string spmspv_table_head();
[[nodiscard]] std::string spmspv_table_lines(const json& row,
                                             std::span<const spmspv::kernel> kernels);

} // namespace krylith::bench
