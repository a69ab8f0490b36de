// A solve for several right-hand sides, those of a file with several columns.
#pragma once

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/dense_columns.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// Solves for all columns of b, at once where solver, preconditioner and options allow that, and
/// writes request.solution_file with as many columns. `out` knows the matrix; it gets all else, and
/// in out.result the first column that failed, or that with the most iterations. Throws usage_error
/// for outputs and guesses that several columns don't have.
template <class T>
void run_columns(const solve_request& request, const solve_watch& watch,
                 const csr_matrix<T>& matrix, const device_group& group, const near_null& modes,
                 const dense_columns<T>& b, solve_outcome& out);

} // namespace krylith::tool
