// A measured CG solver as a row of the report and a line of the table.
#pragma once

#include <string>

#include <krylith/bench/cg/cg_krylith.hpp>
#include <krylith/bench/cg/cg_measure.hpp>
#include <krylith/bench/cg/cg_passes.hpp>
#include <krylith/bench/common/report.hpp>

namespace krylith::bench {

/// What every solver has.
[[nodiscard]] json cg_row(const workload& w, const cg_numbers& numbers, backend kind, int devices,
                          const memory_rate& rate);

/// What only krylith's has.
void add_operator(json& row, const krylith_cg& ours);
void add_passes(json& row, const cg_passes& passes);

/// One that was to be measured, and why it wasn't.
[[nodiscard]] json failed_row(const std::string& matrix, int devices, const std::string& why);

[[nodiscard]] std::string cg_table_head();

/// A line, and one more for each thing that doesn't fit into it.
[[nodiscard]] std::string cg_table_lines(const json& row);

} // namespace krylith::bench
