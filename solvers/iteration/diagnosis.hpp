// Why a solve failed, in words, with what to try.
#pragma once

#include <string>

#include <krylith/solvers/result.hpp>

namespace krylith {

/// From what the result says, but for its diagnosis: empty if it converged. `machine_epsilon` is
/// that of the vectors' type. Names arguments of the library, never options of the command.
[[nodiscard]] std::string diagnosis(const solve_result& result, double machine_epsilon);

} // namespace krylith
