// A matrix that is never stored, on all GPUs: the 7-point Laplacian as a CUDA kernel, recorded into
// the devices' own loop, solved by CG and compared with the stored one.
//
//     example_own_operator_cuda [POINTS_AN_AXIS]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// Computes y = A x for `count` rows from `first` on, from all of x. Points outside the cube are
/// zero.
__global__ void laplacian(std::int64_t n, std::int64_t first, std::int64_t count, const double* x,
                          double* y) {
    const std::int64_t index = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (index >= count) return;
    const std::int64_t row = first + index;
    const std::int64_t i = row % n;
    const std::int64_t j = row / n % n;
    const std::int64_t k = row / (n * n);
    double sum = 6 * x[row];
    if (i > 0) sum -= x[row - 1];
    if (i < n - 1) sum -= x[row + 1];
    if (j > 0) sum -= x[row - n];
    if (j < n - 1) sum -= x[row + n];
    if (k > 0) sum -= x[row - n * n];
    if (k < n - 1) sum -= x[row + n * n];
    y[index] = sum;
}

/// Enqueues the kernel and returns: it is called once for each product that is recorded.
void enqueue_laplacian(std::int64_t n, const product_call<double>& call) {
    const std::int64_t count = call.rows.size();
    if (count == 0) return;
    const auto blocks = static_cast<unsigned>((count + 255) / 256);
    laplacian<<<blocks, 256, 0, static_cast<cudaStream_t>(call.stream)>>>(n, call.rows.begin, count,
                                                                          call.x, call.y);
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
    std::vector<int> ordinals(static_cast<std::size_t>(cuda_device_count()));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    const auto group = device_group::cuda(ordinals);
    const auto a = make_operator(group, poisson3d<double>(n));
    const auto mine = make_matrix_free<double>(
        group, equal_rows(n * n * n, group.size()),
        [n](const product_call<double>& call) { enqueue_laplacian(n, call); });
    std::vector<double> stored(static_cast<std::size_t>(n * n * n));
    std::vector<double> free(stored.size());
    const solve_result first = solve(*a, stored);
    const solve_result second = solve(*mine, free);
    double difference = 0;
    for (std::size_t i = 0; i < free.size(); ++i)
        difference = std::max(difference, std::fabs(free[i] - stored[i]));
    std::printf("%d GPUs: stored %d iterations of %.1f us, matrix-free %d of %.1f us (%s), "
                "difference %.1e\n",
                group.size(), static_cast<int>(first.iterations),
                1e6 * first.seconds_per_iteration(), static_cast<int>(second.iterations),
                1e6 * second.seconds_per_iteration(), second.recorded ? "recorded" : "eager",
                difference);
    return first.converged() && second.converged() && first.iterations == second.iterations &&
           difference <= 1e-8 * *std::max_element(stored.begin(), stored.end());
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool good = compare(argc > 1 ? std::atoi(argv[1]) : 96);
        std::puts(good ? "The kernel and the matrix agree." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_own_operator_cuda: %s\n", e.what());
        return 1;
    }
}
