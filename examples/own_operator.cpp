// A matrix that is never stored: the 7-point Laplacian as a function, solved by CG on several
// devices, and compared with the stored one.
//
//     example_own_operator [POINTS_AN_AXIS]
//
// This one runs on slices of the CPU; own_operator_cuda.cu is the same with a CUDA kernel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// Computes y = A x for the rows that the device owns, from all of x. Points outside the cube are
/// zero.
void laplacian(std::int64_t n, const product_call<double>& call) {
    for (std::int64_t row = call.rows.begin; row < call.rows.end; ++row) {
        const std::int64_t i = row % n;
        const std::int64_t j = row / n % n;
        const std::int64_t k = row / (n * n);
        double sum = 6 * call.x[row];
        if (i > 0) sum -= call.x[row - 1];
        if (i < n - 1) sum -= call.x[row + 1];
        if (j > 0) sum -= call.x[row - n];
        if (j < n - 1) sum -= call.x[row + n];
        if (k > 0) sum -= call.x[row - n * n];
        if (k < n - 1) sum -= call.x[row + n * n];
        call.y[row - call.rows.begin] = sum;
    }
}

/// Solves A x = ones with any operator.
template <linear_operator A>
solve_result solve(const A& a, std::vector<double>& solution) {
    auto b = a.make_range_vector();
    auto x = a.make_range_vector();
    b.upload(std::vector<double>(solution.size(), 1.0));
    solve_result result = cg(a, b, x, {.rtol = 1e-8});
    x.download(solution);
    return result;
}

bool compare(std::int64_t n) {
    std::vector<double> stored(static_cast<std::size_t>(n * n * n));
    std::vector<double> free(stored.size());
    bool good = true;
    for (int devices = 1; devices <= 3; ++devices) {
        const auto group = device_group::host(devices);
        const auto a = make_operator(group, poisson3d<double>(n));
        const auto mine =
            make_matrix_free<double>(group, equal_rows(n * n * n, devices),
                                     [n](const product_call<double>& c) { laplacian(n, c); });
        const solve_result first = solve(*a, stored);
        const solve_result second = solve(*mine, free);
        double difference = 0;
        for (std::size_t i = 0; i < free.size(); ++i)
            difference = std::max(difference, std::fabs(free[i] - stored[i]));
        std::printf("%d devices: %d iterations stored, %d matrix-free, difference %.1e\n", devices,
                    static_cast<int>(first.iterations), static_cast<int>(second.iterations),
                    difference);
        good = good && first.converged() && second.converged() &&
               first.iterations == second.iterations &&
               difference <= 1e-8 * *std::ranges::max_element(stored);
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool good = compare(argc > 1 ? std::atoi(argv[1]) : 24);
        std::puts(good ? "The function and the matrix agree." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_own_operator: %s\n", e.what());
        return 1;
    }
}
