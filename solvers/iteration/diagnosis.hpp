// Why a solve failed, in words, and what to try.
#pragma once

#include <string>

#include <krylith/solvers/result.hpp>

namespace krylith {

/// Returns the diagnosis of a result, empty if it converged. `machine_epsilon` is that of the
/// vectors' type. The text names arguments of the library, never options of the command.
[[nodiscard]] std::string diagnosis(const solve_result& result, double machine_epsilon);

} // namespace krylith
