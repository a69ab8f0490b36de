// The outcome of a solve for programs (JSON) and for spreadsheets (CSV).
#pragma once

#include <string>

#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// Numbers that aren't finite become null: JSON has no NaN.
[[nodiscard]] std::string json_report(const solve_request& request, const solve_outcome& outcome);

/// iteration,residual,relative_residual: a line an iteration, the start included.
[[nodiscard]] std::string csv_history(const solve_result& result);

} // namespace krylith::tool
