// A measured product as a row of the report, a line of the table and a line of CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/bench/spmv/spmv_limit.hpp>
#include <krylith/bench/spmv/spmv_measure.hpp>

namespace krylith::bench {

/// The seconds of one product on one device; 0 where it was not measured, or is void.
struct one_device {
    double fastest = 0;  ///< of krylith's formats
    double cusparse = 0; ///< cuSPARSE
    std::string format;  ///< the name of the fastest
};

/// The values that every product has. Times are in microseconds.
template <class T>
[[nodiscard]] json spmv_row(const spmv_case& c, const workload& w, const spmv_numbers& numbers,
                            const matrix_operator<T>& a, const memory_rate& rate);

/// Adds speedups, and what set-up and partitioning cost in products of one device.
void add_comparison(json& row, const one_device& one, double setup_seconds,
                    std::optional<double> partition_seconds);

/// Adds the operator's own limit, how near it is, and how much of the transfer was hidden.
void add_limit(json& row, const spmv_limit& limit);

/// The row of a product that was to be measured, with the reason why it wasn't.
[[nodiscard]] json failed_product(const spmv_case& c, int devices, const std::string& kind,
                                  const std::string& format, const std::string& why);

/// The columns of csv_file.
[[nodiscard]] std::vector<std::string> spmv_csv_columns();

[[nodiscard]] std::string spmv_table_head();
/// A line of the table, and one more for each reason that makes it void.
[[nodiscard]] std::string spmv_table_lines(const json& row);

} // namespace krylith::bench
