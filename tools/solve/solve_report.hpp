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

/// The summary's first line, known when the matrix is there.
[[nodiscard]] std::string matrix_lines(const solve_request& request, const solve_outcome& outcome);
/// The next ones, known before the solve: devices, operator, transport.
[[nodiscard]] std::string operator_lines(const solve_outcome& outcome);
/// What the solve has brought, in some ten lines.
[[nodiscard]] std::string outcome_lines(const solve_request& request, const solve_outcome& outcome);

/// "converged: ||b - A x|| <= rtol ||b||" and so on.
[[nodiscard]] const char* in_words(reason why) noexcept;

} // namespace krylith::tool
