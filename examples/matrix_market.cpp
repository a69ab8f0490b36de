// A program that reads a linear system from a file and writes its solution to a file.
//
//     example_matrix_market [MATRIX.mtx [SOLUTION.mtx]]
//
// The matrix should be symmetric positive definite; without arguments a small one is written first.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// A chain of springs, each stiffer than the one before, with both ends fixed.
csr_matrix<double> springs(std::int32_t n) {
    coo_matrix<double> entries;
    entries.rows = entries.columns = n;
    const auto add = [&](std::int32_t row, std::int32_t column, double value) {
        if (row < 0 || column < 0 || row == n || column == n) return; // a fixed end
        entries.row_indices.push_back(row);
        entries.column_indices.push_back(column);
        entries.values.push_back(value);
    };
    for (std::int32_t i = 0; i <= n; ++i) { // spring i joins masses i - 1 and i
        const double stiffness = 1 + 0.01 * i;
        add(i - 1, i - 1, stiffness); // entries of the same place add up
        add(i - 1, i, -stiffness);
        add(i, i - 1, -stiffness);
        add(i, i, stiffness);
    }
    return to_csr(entries);
}

/// Returns ||b - A x|| / ||b|| by a plain loop, which doesn't depend on krylith.
double residual(const csr_matrix<double>& a, const std::vector<double>& x,
                const std::vector<double>& b) {
    double rr = 0;
    double bb = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        double r = b[row];
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            r -= a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
        rr += r * r;
        bb += b[row] * b[row];
    }
    return std::sqrt(rr / bb);
}

bool solve(const std::string& matrix_file, const std::string& solution_file) {
    const auto matrix = read_matrix_market<double>(matrix_file);
    std::printf("%s: %lld rows, %lld nonzeros\n", matrix_file.c_str(),
                static_cast<long long>(matrix.rows), static_cast<long long>(matrix.nnz()));

    const int one[] = {0};
    const auto group = cuda_device_count() > 0 ? device_group::cuda(one) : device_group::host(2);
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    const std::vector<double> b_values(static_cast<std::size_t>(matrix.rows), 1.0);
    b.upload(b_values);

    const solve_result result = cg(*a, b, x, {.rtol = 1e-10}, m);
    std::printf("%s after %lld iterations, relative residual %.2e, %.2f ms\n",
                to_string(result.reason), static_cast<long long>(result.iterations),
                result.relative_residual(), 1e3 * result.solve_seconds);
    if (!result.converged()) {
        std::printf("%s\n", result.diagnosis.c_str());
        return false;
    }

    std::vector<double> x_values(b_values.size());
    x.download(x_values);
    write_vector_market<double>(solution_file, x_values, "solution for b = ones");
    std::printf("solution in %s\n", solution_file.c_str());
    return read_vector_market<double>(solution_file) == x_values && // 17 digits lose nothing
           residual(matrix, x_values, b_values) <= 1.01e-10;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::string matrix_file = argc > 1 ? argv[1] : "springs.mtx";
        const std::string solution_file = argc > 2 ? argv[2] : "solution.mtx";
        if (argc == 1) write_matrix_market(matrix_file, springs(500), "chain of 501 springs");
        const bool good = solve(matrix_file, solution_file);
        if (!good) std::puts("MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_matrix_market: %s\n", e.what());
        return 1;
    }
}
