// A measured kernel as a row of the report, a line of the table and a line of CSV.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/sparse/sparse_kernel.hpp>
#include <krylith/bench/sparse/sparse_pattern.hpp>
#include <krylith/bench/spmv/spmv_families.hpp>

namespace krylith::bench {

/// A matrix as rows of the report have it.
struct sparse_subject {
    spmv_case c;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    pattern_facts facts;
    int threads = 0; ///< 0: those that the run has
};

/// Times are in milliseconds; rates and the speedup are those of the median.
[[nodiscard]] json sparse_row(const sparse_subject& subject, const sparse_line& line);

/// The row of a kernel whose result was wrong.
[[nodiscard]] json failed_sparse_row(const sparse_subject& subject, std::string_view kernel,
                                     const std::string& why);

/// The columns of csv_file.
[[nodiscard]] std::vector<std::string> sparse_csv_columns();
[[nodiscard]] std::string sparse_table_head();
/// A line of the table, and one more for each reason that makes it void.
[[nodiscard]] std::string sparse_table_lines(const json& row);

} // namespace krylith::bench
