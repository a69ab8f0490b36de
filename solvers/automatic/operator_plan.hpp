// The methods that suit an operator, by what is known of it and of its matrix.
#pragma once

#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/automatic/method_plan.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// plan_methods() for an operator. `given` is null where M is chosen, and `matrix` where it is not
/// at hand. Rows are sampled of a matrix in host memory alone. Facts that the operator doesn't keep
/// yet cost two products and a read of A.
template <class T>
[[nodiscard]] std::vector<planned_method>
plan_for(const matrix_operator<T>& a, const solver_options& options,
         const any_preconditioner<T>* given, const matrix_ref<T>* matrix,
         const matrix_nodes& nodes);

} // namespace krylith
