#include <krylith/solvers/joint/column_pass_host.hpp>
#include <krylith/solvers/joint/gmres_columns.hpp>
#include <krylith/solvers/joint/joint_columns.hpp>
#include <krylith/solvers/joint/joint_methods.hpp>

namespace krylith {

template <class T>
std::unique_ptr<joint_solver<T>> joint_gmres(const communicator& comm, const csr_view<T>& a,
                                             int columns, const column_preconditioner<T>& m,
                                             const solver_options& options) {
    return make_joint<gmres_columns, T>(comm, a, columns, m, options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<joint_solver<T>> joint_gmres(const communicator&, const csr_view<T>&, \
                                                          int, const column_preconditioner<T>&,    \
                                                          const solver_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
