// A measured solver as a row of the report, a line of the table and a line of CSV.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/report.hpp>
#include <krylith/bench/solver/cg_passes.hpp>
#include <krylith/bench/solver/krylith_solver.hpp>
#include <krylith/bench/solver/solver_measure.hpp>

namespace krylith::bench {

/// The values that every solver has. An iteration can't avoid `bytes`; 0 means no model.
[[nodiscard]] json solver_row(const workload& w, const solver_numbers& numbers, backend kind,
                              int devices, double bytes, const memory_rate& rate);

/// Adds the values that only krylith's solver has.
template <class T>
void add_operator(json& row, const krylith_solver<T>& ours);
void add_passes(json& row, const cg_passes& passes);

/// The row of a solver that was to be measured, with the reason why it wasn't.
[[nodiscard]] json failed_row(const std::string& matrix, int devices, const std::string& why);

[[nodiscard]] std::vector<std::string> solver_csv_columns();
[[nodiscard]] std::string solver_table_head();

/// A line of the table, and one more for each thing that doesn't fit into it.
[[nodiscard]] std::string solver_table_lines(const json& row);

} // namespace krylith::bench
