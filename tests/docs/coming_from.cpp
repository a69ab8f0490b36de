// krylith's side of docs/coming_from.md: it compiles, and what solves must solve.
#include <cstdio>
#include <memory>
#include <vector>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/adapters/eigen.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// PETSc: a KSP with its options, reasons and history.
solve_result as_with_petsc(const device_group& group, const csr_view<double>& matrix,
                           const std::vector<double>& rhs, std::vector<double>& solution) {
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto b = a->make_range_vector(), x = a->make_range_vector();
    b.upload(rhs);
    x.upload(solution);
    solve_result result = cg(*a, b, x,
                             {.rtol = 1e-8,
                              .atol = 1e-50,
                              .max_iterations = 10000,
                              .initial_guess = true,
                              .history = true},
                             m);
    if (!result.converged())
        std::printf("%s: %s\n", to_string(result.reason), result.diagnosis.c_str());
    x.download(solution);
    return result;
}

/// PETSc: MatSetPreallocationCOO and MatSetValuesCOO.
std::unique_ptr<matrix_operator<double>> assembled(const device_group& group, std::int64_t n,
                                                   const std::vector<std::int32_t>& rows,
                                                   const std::vector<std::int32_t>& columns,
                                                   const std::vector<double>& element_values) {
    const coo_assembly assembly(n, n, rows, columns); // once
    std::vector<double> values(static_cast<std::size_t>(assembly.nnz()));
    assembly.gather<double>(element_values, values); // for each new set of values
    auto a = make_operator(group, assembly.view<double>(values));
    assembly.gather<double>(element_values, values);
    a->update(values); // the operator keeps its pattern, plans and formats
    return a;
}

/// SciPy and CuPy: one call, a callback, an info.
solve_result as_with_scipy(const csr_matrix<double>& matrix, const std::vector<double>& rhs,
                           std::vector<double>& solution) {
    const auto group =
        cuda_device_count() > 0 ? device_group::cuda(std::vector<int>{0}) : device_group::host(1);
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector(), x = a->make_range_vector();
    b.upload(rhs);
    const auto show = [](const progress& p) {
        std::printf("%lld %.1e\n", static_cast<long long>(p.iteration), p.residual);
    };
    solve_result result = gmres(*a, b, x,
                                {.rtol = 1e-5,
                                 .max_iterations = 1000,
                                 .restart = 20,
                                 .callback = show,
                                 .callback_interval = 20});
    x.download(solution);
    return result;
}

/// SciPy: LinearOperator.
std::unique_ptr<matrix_operator<double>> second_difference(const device_group& group,
                                                           std::int64_t n) {
    return make_matrix_free<double>(
        group, equal_rows(n, group.size()), [n](const product_call<double>& call) {
            for (std::int64_t i = call.rows.begin; i < call.rows.end; ++i)
                call.y[i - call.rows.begin] =
                    2 * call.x[i] - (i > 0 ? call.x[i - 1] : 0) - (i < n - 1 ? call.x[i + 1] : 0);
        });
}

/// Eigen: its own solver.
bool by_eigen(const Eigen::SparseMatrix<double>& matrix, const Eigen::VectorXd& rhs,
              Eigen::VectorXd& solution) {
    Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper> solver;
    solver.setTolerance(1e-8);
    solver.compute(matrix);
    solution = solver.solveWithGuess(rhs, solution);
    std::printf("%d iterations, error %.1e\n", static_cast<int>(solver.iterations()),
                solver.error());
    return solver.info() == Eigen::Success;
}

/// Eigen: the same by krylith.
bool as_with_eigen(const device_group& group, const Eigen::SparseMatrix<double>& matrix,
                   const Eigen::VectorXd& rhs, Eigen::VectorXd& solution) {
    const auto a = make_operator(group, adapt_eigen(matrix));
    const jacobi<double> m(*a); // Eigen's default
    auto b = a->make_range_vector(), x = a->make_range_vector();
    b.upload(as_span(rhs));
    x.upload(as_span(solution));
    const solve_result result = cg(*a, b, x, {.rtol = 1e-8, .initial_guess = true}, m);
    x.download(as_span(solution));
    std::printf("%d iterations, error %.1e\n", static_cast<int>(result.iterations),
                result.relative_residual());
    return result.converged();
}

/// AmgX: three arrays with 32-bit offsets, new coefficients, devices by number.
solve_result as_with_amgx(const std::vector<int>& gpus, int n, const int* row_ptrs,
                          const int* col_indices, double* data, const std::vector<double>& rhs,
                          std::vector<double>& solution) {
    const auto group = gpus.empty() ? device_group::host(2) : device_group::cuda(gpus);
    const auto matrix = adapt_csr(n, n, row_ptrs, col_indices, data);
    const auto a = make_operator(group, matrix);
    jacobi<double> m(*a);
    auto b = a->make_range_vector(), x = a->make_range_vector();
    b.upload(rhs);
    solve_result first = cg(*a, b, x, {}, m);
    if (!first.converged()) return first;

    for (int k = 0; k < row_ptrs[n]; ++k) data[k] *= 2; // new coefficients
    a->update(matrix.view().values);
    m.update(*a);
    solve_result second = cg(*a, b, x, {.initial_guess = true}, m);
    x.download(solution);
    return second;
}

bool right(const char* what, const solve_result& result) {
    std::printf("%s: %s after %lld iterations\n", what, to_string(result.reason),
                static_cast<long long>(result.iterations));
    return result.converged();
}

} // namespace

int main() {
    const auto group = device_group::host(2);
    const csr_matrix<double> matrix = poisson3d<double>(8);
    const auto n = static_cast<std::size_t>(matrix.rows);
    const std::vector<double> rhs(n, 1.0);
    std::vector<double> x(n, 0.0);
    bool good = right("petsc", as_with_petsc(group, matrix, rhs, x));
    good = right("scipy", as_with_scipy(matrix, rhs, x)) && good;

    Eigen::SparseMatrix<double> same(matrix.rows, matrix.columns);
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (auto k = matrix.row_offsets[as_size(row)]; k < matrix.row_offsets[as_size(row) + 1];
             ++k)
            same.insert(row, matrix.column_indices[as_size(k)]) = matrix.values[as_size(k)];
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(matrix.rows);
    Eigen::VectorXd theirs = Eigen::VectorXd::Zero(matrix.rows), ours = theirs;
    good = by_eigen(same, ones, theirs) && as_with_eigen(group, same, ones, ours) &&
           (theirs - ours).norm() <= 1e-5 * theirs.norm() && good;

    const auto a = second_difference(group, 100);
    auto b = a->make_range_vector(), y = a->make_range_vector();
    b.upload(std::vector<double>(100, 1.0));
    good = right("linear operator", cg(*a, b, y)) && good;

    const std::vector<std::int32_t> diagonal = {0, 1, 2, 1};
    const auto c = assembled(group, 3, diagonal, diagonal, {1, 1, 1, 1});
    auto d = c->make_range_vector(), z = c->make_range_vector();
    d.upload(std::vector<double>{1, 2, 1});
    good = right("assembled", cg(*c, d, z)) && good;

    std::vector<int> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    std::vector<double> data = matrix.values;
    good = right("amgx", as_with_amgx({}, static_cast<int>(n), offsets.data(),
                                      matrix.column_indices.data(), data.data(), rhs, x)) &&
           good;
    return good ? 0 : 1;
}
