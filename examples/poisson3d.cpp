// One Poisson problem on one device and on several: the same iterations, the same solution, less
// time. It runs on all GPUs, or else on slices of the CPU.
//
//     example_poisson3d [POINTS_AN_AXIS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// Solves A x = ones on so many devices.
solve_result solve(const csr_matrix<double>& matrix, int devices, std::vector<double>& solution) {
    const auto a = make_operator(device_group::available(devices), matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(std::vector<double>(solution.size(), 1.0));
    (void)cg(*a, b, x, {.max_iterations = 10}); // the first run is slow
    solve_result result = cg(*a, b, x, {.rtol = 1e-8});
    x.download(solution);
    return result;
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::fabs(x[i] - y[i]));
    return largest;
}

bool compare(int n, int most_devices) {
    const auto matrix = poisson3d<double>(n);
    std::vector<double> first(static_cast<std::size_t>(matrix.rows));
    std::vector<double> x(first.size());
    std::vector<double> times; // microseconds an iteration
    std::int64_t iterations = 0;
    bool good = true;
    std::printf("devices  iterations  seconds  us/iteration  speed-up  residual  difference\n");
    for (int devices = 1; devices <= most_devices; ++devices) {
        const solve_result result = solve(matrix, devices, devices == 1 ? first : x);
        if (devices == 1) iterations = result.iterations;
        const double difference = devices == 1 ? 0 : largest_difference(x, first);
        times.push_back(1e6 * result.seconds_per_iteration());
        std::printf("%7d  %10d  %7.4f  %12.2f  %7.2fx  %8.1e  %10.1e\n", devices,
                    static_cast<int>(result.iterations), result.solve_seconds, times.back(),
                    times.front() / times.back(), result.relative_residual(), difference);
        good = good && result.converged() && result.iterations == iterations &&
               difference <= 1e-8 * *std::ranges::max_element(first);
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : gpus > 0 ? 192 : 40;
        std::printf("CG, 7-point Laplacian on %d^3 points, %s\n", n, gpus > 0 ? "GPUs" : "CPU");
        const bool good = compare(n, gpus > 0 ? gpus : 3);
        std::puts(good ? "The same on any number of devices." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_poisson3d: %s\n", e.what());
        return 1;
    }
}
