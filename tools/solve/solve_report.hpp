// The outcome of a solve for people, for programs (JSON) and for spreadsheets (CSV).
#pragma once

#include <string>

#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// Numbers that aren't finite become null: JSON has no NaN.
[[nodiscard]] std::string json_report(const solve_request& request, const solve_outcome& outcome);

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

/// "12.3 MB": a few digits and a unit of powers of 1000.
[[nodiscard]] std::string in_bytes(double bytes);

/// "35.1 us", "1.23 s".
[[nodiscard]] std::string in_seconds(double seconds);

} // namespace krylith::tool
