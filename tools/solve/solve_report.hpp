// The outcome of a solve for people, for programs (JSON) and for spreadsheets (CSV).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// All fields of the report.
[[nodiscard]] nlohmann::ordered_json json_fields(const solve_request& request,
                                                 const solve_outcome& outcome);

/// iteration,residual,relative_residual: a line an iteration, the start included.
[[nodiscard]] std::string csv_history(const solve_result& result);

/// About ten lines.
[[nodiscard]] std::string summary(const solve_request& request, const solve_outcome& outcome);

/// "converged: ||b - A x|| <= rtol ||b||" and so on.
[[nodiscard]] const char* in_words(reason why) noexcept;

} // namespace krylith::tool
