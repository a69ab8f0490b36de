// What help says of the solvers and preconditioners, from the rows of their tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krylith::tool {

/// "cg needs a symmetric positive definite matrix; ...", of those that have rows.
[[nodiscard]] std::string solver_help();

/// "jacobi divides by the diagonal; NAME:KEY=VALUE ... (KEY: what it means, 1 to 64 [8])".
[[nodiscard]] std::string preconditioner_help();

/// auto, none and the preconditioners of the table.
[[nodiscard]] std::vector<std::string_view> preconditioner_choices();

/// Throws usage_error, which lists them, unless the text begins with one of these names.
void check_preconditioner(std::string_view text);

} // namespace krylith::tool
