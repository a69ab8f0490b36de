// How loops for several right-hand sides apply M.
#pragma once

namespace krylith {

enum class joint_preconditioner {
    none,
    jacobi, ///< the inverse of the main diagonal, in the loop's own passes
    applied ///< one that takes several columns at once (preconditioner_method::takes_columns), as
            ///< a step of its own
};

} // namespace krylith
