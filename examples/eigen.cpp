// A program that assembles with Eigen and solves with krylith: matrix and vectors stay Eigen's.
//
//     example_eigen [POINTS_AN_AXIS [DEVICES]]
//
// Checks: the solution against Eigen's own direct solver, before and after the values have changed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <krylith/adapters/eigen.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

// The matrix is row-major: krylith reads Eigen's arrays in place. Column-major works too, by a
// copy.
using sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// The matrix of -Laplace u + c u on n x n points.
sparse helmholtz(int n, double c) {
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            const int row = j * n + i;
            entries.emplace_back(row, row, 4 + c);
            if (i > 0) entries.emplace_back(row, row - 1, -1);
            if (i < n - 1) entries.emplace_back(row, row + 1, -1);
            if (j > 0) entries.emplace_back(row, row - n, -1);
            if (j < n - 1) entries.emplace_back(row, row + n, -1);
        }
    sparse a(n * n, n * n);
    a.setFromTriplets(entries.begin(), entries.end());
    return a;
}

/// Returns x with A x = b. Vectors of host devices lie in Eigen's memory; GPUs have theirs.
solve_result solve(const matrix_operator<double>& a, const jacobi<double>& m,
                   const Eigen::VectorXd& b, Eigen::VectorXd& x) {
    if (can_borrow_host_array(*a.layout())) {
        const auto rhs = borrow_host_array(a.layout(), as_span(b));
        auto solution = borrow_host_array(a.layout(), as_span(x));
        return cg(a, rhs, solution, {.rtol = 1e-12}, m);
    }
    auto rhs = a.make_range_vector();
    auto solution = a.make_range_vector();
    rhs.upload(as_span(b));
    solve_result result = cg(a, rhs, solution, {.rtol = 1e-12}, m);
    solution.download(as_span(x));
    return result;
}

/// The largest difference from Eigen's direct solution, relative to its largest entry.
double error_of(const sparse& matrix, const Eigen::VectorXd& b, const Eigen::VectorXd& x) {
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> direct(matrix);
    const Eigen::VectorXd exact = direct.solve(b);
    double largest = 0;
    double difference = 0;
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        largest = std::max(largest, std::fabs(exact[i]));
        difference = std::max(difference, std::fabs(exact[i] - x[i]));
    }
    return difference / largest;
}

bool run(const device_group& group, int n) {
    sparse matrix = helmholtz(n, 0.01);
    const auto adapted = adapt_eigen(matrix);
    std::printf("%d rows, %d nonzeros: %zu bytes copied (offsets), values and columns in place\n",
                static_cast<int>(matrix.rows()), static_cast<int>(matrix.nonZeros()),
                adapted.copied_bytes());
    const auto a = make_operator<double>(group, adapted);
    jacobi<double> m(*a);
    Eigen::VectorXd b(matrix.rows());
    for (Eigen::Index i = 0; i < b.size(); ++i) b[i] = std::cos(0.1 * static_cast<double>(i));
    Eigen::VectorXd x(matrix.rows());

    bool good = true;
    for (const char* round : {"first", "updated"}) {
        const solve_result result = solve(*a, m, b, x);
        const double error = error_of(matrix, b, x);
        std::printf("%-8s %s after %d iterations, %.1e from Eigen's direct solution\n", round,
                    to_string(result.reason), static_cast<int>(result.iterations), error);
        good = good && result.converged() && error <= 1e-9;

        for (int row = 0; row < matrix.rows(); ++row) matrix.coeffRef(row, row) += 0.5;
        a->update(adapted.view().values); // the same arrays, new values
        m.update(*a);
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 100;
        const int devices = argc > 2 ? std::atoi(argv[2]) : std::max(1, gpus);
        if (n < 2 || devices < 1) {
            std::fputs("example_eigen [POINTS_AN_AXIS >= 2 [DEVICES >= 1]]\n", stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n);
        std::puts(good ? "Eigen agrees." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_eigen: %s\n", e.what());
        return 1;
    }
}
