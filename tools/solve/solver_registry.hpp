// The solvers that the command knows by name. A new one: a solver_NAME.cpp and a line in
// solver_registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::tool {

/// `m` is null without preconditioner.
template <class T>
using solver_function = solve_result (*)(const matrix_operator<T>& a, const vector<T>& b,
                                         vector<T>& x, const solver_options& options,
                                         const jacobi<T>* m);

template <class T>
[[nodiscard]] solve_result solve_cg(const matrix_operator<T>& a, const vector<T>& b, vector<T>& x,
                                    const solver_options& options, const jacobi<T>* m);
template <class T>
[[nodiscard]] solve_result solve_persistent_cg(const matrix_operator<T>& a, const vector<T>& b,
                                               vector<T>& x, const solver_options& options,
                                               const jacobi<T>* m);
template <class T>
[[nodiscard]] solve_result solve_automatic_cg(const matrix_operator<T>& a, const vector<T>& b,
                                              vector<T>& x, const solver_options& options,
                                              const jacobi<T>* m);
template <class T>
[[nodiscard]] solve_result solve_gmres(const matrix_operator<T>& a, const vector<T>& b,
                                       vector<T>& x, const solver_options& options,
                                       const jacobi<T>* m);
template <class T>
[[nodiscard]] solve_result solve_gmres_cgs2(const matrix_operator<T>& a, const vector<T>& b,
                                            vector<T>& x, const solver_options& options,
                                            const jacobi<T>* m);
template <class T>
[[nodiscard]] solve_result solve_bicgstab(const matrix_operator<T>& a, const vector<T>& b,
                                          vector<T>& x, const solver_options& options,
                                          const jacobi<T>* m);

[[nodiscard]] std::span<const std::string_view> solver_names();
[[nodiscard]] std::span<const std::string_view> preconditioner_names();

/// Null for "none". Throws usage_error for an unknown name.
template <class T>
[[nodiscard]] std::unique_ptr<jacobi<T>> make_preconditioner(std::string_view name,
                                                             const matrix_operator<T>& a,
                                                             const csr_matrix<T>& matrix);

/// Throws usage_error for an unknown name.
void check_preconditioner(std::string_view name);

/// Throws usage_error for an unknown name, naming the nearest.
template <class T>
[[nodiscard]] solver_function<T> find_solver(std::string_view name);

} // namespace krylith::tool
