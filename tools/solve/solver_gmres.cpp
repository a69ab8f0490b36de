#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/gmres_cgs2.hpp>
#include <krylith/tools/solve/solver_registry.hpp>

namespace krylith::tool {

template <class T>
solve_result solve_gmres(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                         const solver_options& options, const jacobi<T>* m) {
    return m == nullptr ? gmres(a, b, x, options) : gmres(a, b, x, options, *m);
}

template solve_result solve_gmres(const matrix_operator<double>&, const vector<double>&,
                                  vector<double>&, const solver_options&, const jacobi<double>*);
template solve_result solve_gmres(const matrix_operator<float>&, const vector<float>&,
                                  vector<float>&, const solver_options&, const jacobi<float>*);

template <class T>
solve_result solve_gmres_cgs2(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                              const solver_options& options, const jacobi<T>* m) {
    return m == nullptr ? gmres_cgs2(a, b, x, options) : gmres_cgs2(a, b, x, options, *m);
}

template solve_result solve_gmres_cgs2(const matrix_operator<double>&, const vector<double>&,
                                       vector<double>&, const solver_options&,
                                       const jacobi<double>*);
template solve_result solve_gmres_cgs2(const matrix_operator<float>&, const vector<float>&,
                                       vector<float>&, const solver_options&, const jacobi<float>*);

} // namespace krylith::tool
