// A measured solver as a row of the report, a line of the table and a line of CSV.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/solver/cg_passes.hpp>
#include <krylith/bench/solver/krylith_solver.hpp>
#include <krylith/bench/solver/solver_measure.hpp>

namespace krylith::bench {

/// What every solver has. `bytes` that an iteration can't avoid; 0: no model.
[[nodiscard]] json solver_row(const workload& w, const solver_numbers& numbers, backend kind,
                              int devices, double bytes, const memory_rate& rate);

/// What only krylith's has.
template <class T>
void add_operator(json& row, const krylith_solver<T>& ours);
void add_passes(json& row, const cg_passes& passes);

/// One that was to be measured, and why it wasn't.
[[nodiscard]] json failed_row(const std::string& matrix, int devices, const std::string& why);

[[nodiscard]] std::vector<std::string> solver_csv_columns();
[[nodiscard]] std::string solver_table_head();

/// A line, and one more for each thing that doesn't fit into it.
[[nodiscard]] std::string solver_table_lines(const json& row);

} // namespace krylith::bench
