// A solver and a preconditioner that the user of a program chooses when it runs. Where none is
// named, all pairs that fit solve the system.
//
//     example_run_time_choice [SOLVER [PRECONDITIONER [MATRIX]]]
//
// Checks: what converges has the residual that a loop of this program computes.
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double rtol = 1e-8;

/// ||b - A x|| / ||b|| for b = ones.
double relative_residual(const csr_matrix<double>& a, const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t row = 0; row < x.size(); ++row) {
        double r = 1;
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            r -= a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
        sum += r * r;
    }
    return std::sqrt(sum / static_cast<double>(x.size()));
}

/// Returns whether the pair does what it says; prints how it went.
bool solve(const csr_matrix<double>& matrix, const matrix_operator<double>& a,
           std::string_view solver, std::string_view preconditioner) {
    auto b = a.make_range_vector(), x = a.make_range_vector();
    std::vector<double> values(static_cast<std::size_t>(a.size()), 1.0);
    b.upload(values);
    const any_preconditioner<double> m = make_preconditioner(preconditioner, a, matrix);
    const solve_result result = find_solver(solver).solve(a, b, x, {.rtol = rtol}, m);
    x.download(values);
    const double residual = relative_residual(matrix, values);
    std::printf("%-12s %-10s %-16s %5lld iterations, residual %.1e\n", std::string(solver).c_str(),
                m.name().c_str(), to_string(result.reason),
                static_cast<long long>(result.iterations), residual);
    return !result.converged() || residual <= 1.01 * rtol;
}

/// Whether the solver takes the preconditioner: some need a symmetric one, least squares have none.
bool fits(const solver_method& solver, const any_preconditioner<double>& m) {
    if (solver.least_squares) return m.is_identity();
    return m.symmetric() || !solver.needs_symmetric;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto matrix = load_matrix<double>(argc > 3 ? argv[3] : "gallery:poisson3d:20");
        const auto group =
            cuda_device_count() > 0 ? device_group::cuda(std::vector{0}) : device_group::host(1);
        const auto a = make_operator(group, matrix, {.transposed_products = true}); // for lsqr
        if (argc > 1) return solve(matrix, *a, argv[1], argc > 2 ? argv[2] : "none") ? 0 : 1;
        bool right = true;
        for (const solver_method* row : all_solvers)
            for (const std::string_view m : preconditioner_names())
                if (row->runs_everywhere && fits(*row, make_preconditioner(m, *a, matrix)))
                    right = solve(matrix, *a, row->name, m) && right;
        return right ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_run_time_choice: %s\n", e.what());
        return 2;
    }
}
