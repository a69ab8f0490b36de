// What help says of the solvers and preconditioners, from the rows of their tables.
#pragma once

#include <string>

namespace krylith::tool {

/// "cg needs a symmetric positive definite matrix; ...", of those that have rows.
[[nodiscard]] std::string solver_help();

/// "jacobi divides by the diagonal; NAME:KEY=VALUE ... (KEY: what it means, 1 to 64 [8])".
[[nodiscard]] std::string preconditioner_help();

} // namespace krylith::tool
