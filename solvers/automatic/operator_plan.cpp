#include <krylith/solvers/automatic/operator_plan.hpp>

#include <krylith/solvers/automatic/row_sample.hpp>
#include <krylith/spmv/operator_facts.hpp>

namespace krylith {

template <class T>
std::vector<planned_method> plan_for(const matrix_operator<T>& a, const solver_options& options,
                                     const any_preconditioner<T>* given,
                                     const matrix_ref<T>* matrix, const matrix_nodes& nodes) {
    const csr_view<T>* const rows = matrix != nullptr ? matrix->on_host() : nullptr;
    const distributed_csr<T>* const shared = matrix != nullptr ? matrix->over_group() : nullptr;
    const plan_setting setting{.rows = a.size(),
                               .value_bytes = sizeof(T),
                               .least_restart = options.restart,
                               .given_side = options.preconditioning,
                               .source = given != nullptr    ? preconditioner_source::given
                                         : matrix != nullptr ? preconditioner_source::matrix
                                                             : preconditioner_source::table,
                               .varies = given != nullptr && given->varies(),
                               .symmetric = given == nullptr || given->symmetric(),
                               .sample = rows != nullptr     ? sample_rows(*rows)
                                         : shared != nullptr ? sample_rows(*shared)
                                                             : row_sample(),
                               .nonzeros = rows != nullptr     ? rows->nnz()
                                           : shared != nullptr ? shared->nonzeros()
                                                               : 0,
                               .longest_row = a.kept().longest_row,
                               .nodes = nodes.known(),
                               .near_null = !nodes.near_null.empty(),
                               .transposed = a.has_transposed() || rows != nullptr};
    return plan_methods(facts_of(a, options.timeout_seconds), setting);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<planned_method> plan_for(                                                 \
        const matrix_operator<T>&, const solver_options&, const any_preconditioner<T>*,            \
        const matrix_ref<T>*, const matrix_nodes&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
