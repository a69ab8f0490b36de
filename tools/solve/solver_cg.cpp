#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/persistent_cg.hpp>
#include <krylith/tools/solve/solver_registry.hpp>

namespace krylith::tool {

template <class T>
solve_result solve_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                      const solver_options& options, const jacobi<T>* m) {
    return m == nullptr ? cg(a, b, x, options) : cg(a, b, x, options, *m);
}

template solve_result solve_cg(const matrix_operator<double>&, const vector<double>&,
                               vector<double>&, const solver_options&, const jacobi<double>*);
template solve_result solve_cg(const matrix_operator<float>&, const vector<float>&, vector<float>&,
                               const solver_options&, const jacobi<float>*);

template <class T>
solve_result solve_persistent_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                                 const solver_options& options, const jacobi<T>* m) {
    return m == nullptr ? persistent_cg(a, b, x, options) : persistent_cg(a, b, x, options, *m);
}

template <class T>
solve_result solve_automatic_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                                const solver_options& options, const jacobi<T>* m) {
    return m == nullptr ? automatic_cg(a, b, x, options) : automatic_cg(a, b, x, options, *m);
}

template solve_result solve_persistent_cg(const matrix_operator<double>&, const vector<double>&,
                                          vector<double>&, const solver_options&,
                                          const jacobi<double>*);
template solve_result solve_persistent_cg(const matrix_operator<float>&, const vector<float>&,
                                          vector<float>&, const solver_options&,
                                          const jacobi<float>*);
template solve_result solve_automatic_cg(const matrix_operator<double>&, const vector<double>&,
                                         vector<double>&, const solver_options&,
                                         const jacobi<double>*);
template solve_result solve_automatic_cg(const matrix_operator<float>&, const vector<float>&,
                                         vector<float>&, const solver_options&,
                                         const jacobi<float>*);

} // namespace krylith::tool
