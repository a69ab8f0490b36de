// Measured streamed products as rows of the report, lines of the table and of CSV.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/streamed/streamed_measure.hpp>

namespace krylith::bench {

/// What a row is of.
struct streamed_case {
    std::string matrix;
    std::int64_t n = 0;
    std::int64_t nnz = 0;
    std::string format;
    std::string version;
    int devices = 1;
    bool pinned = false;
};

/// Times in microseconds; overheads as shares of the total.
[[nodiscard]] json streamed_row(const streamed_case& c, const streamed_numbers& numbers);

/// What was to be measured, and why it wasn't.
[[nodiscard]] json failed_msrep(const streamed_case& c, const std::string& why);

/// To rows of one matrix: "speedup" over the same on the fewest devices of them,
/// "kernel_speedup" of the kernels alone likewise, "speedup_over_baseline" on as many devices.
void add_speedups(std::vector<json>& rows);

/// Of csv_file.
[[nodiscard]] std::vector<std::string> streamed_csv_columns();

[[nodiscard]] std::string streamed_table_head();
[[nodiscard]] std::string streamed_table_lines(const json& row);

} // namespace krylith::bench
