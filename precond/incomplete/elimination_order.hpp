// The order in which incomplete factorisations take rows (precond/ilu0.hpp, precond/ic0.hpp).
#pragma once

namespace krylith {

enum class elimination_order {
    automatic, ///< `natural` on hosts; on CUDA devices by levels and sizes
    natural,   ///< rows in the operator's order: the fewest iterations, and as many steps as levels
    colours    ///< rows of a colour together: few steps, which are wide, and more iterations
};

/// Returns "auto", "natural" or "colours".
[[nodiscard]] const char* to_string(elimination_order order) noexcept;

} // namespace krylith
