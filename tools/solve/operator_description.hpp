// What the outcome of a solve says of the operator and the preconditioner before anything is
// solved.
#pragma once

#include <string>

#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

template <class T>
void describe(solve_outcome& out, const solve_request& request, const matrix_operator<T>& a,
              const any_preconditioner<T>& m);

/// Why a solve with these was not recorded.
template <class T>
[[nodiscard]] std::string why_eager(const solve_request& request, const matrix_operator<T>& a,
                                    const any_preconditioner<T>& m);

} // namespace krylith::tool
