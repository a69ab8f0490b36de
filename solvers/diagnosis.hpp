// Why a solve failed, in words, with what to try.
#pragma once

#include <string>

#include <krylith/solvers/result.hpp>

namespace krylith {

/// From what the result says, but for its diagnosis: empty if it converged. `rounding_unit` is the
/// distance from 1 to the next number of the vectors' type. Names arguments of the library, never
/// options of the command.
[[nodiscard]] std::string diagnosis(const solve_result& result, double rounding_unit);

} // namespace krylith
