// BiCGStab against restarted GMRES on convection-diffusion problems: which is quicker depends on
// how strong the wind is.
//
//     example_convection_diffusion [POINTS_AN_AXIS [DEVICES]]
//
// -Laplace u + P (u_x + u_y + u_z) = f on the unit cube, upwind differences, P the Peclet number;
// f such that u = x (1 - x) y (1 - y) z (1 - z) at the points of the grid. Checks: residuals by a
// loop of its own, and the error of every solution against the known one.
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
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

std::vector<double> product(const csr_matrix<double>& a, const std::vector<double>& x) {
    std::vector<double> y(x.size(), 0.0);
    for (std::size_t row = 0; row < y.size(); ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
            y[row] += a.values[k] * x[static_cast<std::size_t>(a.column_indices[k])];
    return y;
}

double norm(const std::vector<double>& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

double distance(std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return norm(a);
}

/// The solution for which b is made.
std::vector<double> bump(std::int64_t n) {
    std::vector<double> u;
    const auto parabola = [n](std::int64_t i) {
        const double x = static_cast<double>(i + 1) / static_cast<double>(n + 1);
        return x * (1 - x);
    };
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i)
                u.push_back(parabola(i) * parabola(j) * parabola(k));
    return u;
}

/// One line of the table for one matrix; false if a solution is wrong.
bool compare(const device_group& group, std::int64_t n, double peclet) {
    const auto matrix = convection_diffusion<double>(n, peclet);
    const std::vector<double> exact = bump(n);
    const std::vector<double> rhs = product(matrix, exact);
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(rhs);

    bool good = true;
    std::printf("%8g", peclet);
    const auto report = [&](const solve_result& result) {
        std::vector<double> solution(exact.size());
        x.download(solution);
        const double residual = distance(product(matrix, solution), rhs) / norm(rhs);
        const double error = distance(solution, exact) / norm(exact);
        good = good && result.converged() && residual <= 1.01e-8 && error <= 1e-5;
        std::printf("  %5d %7.1f ms %.0e", static_cast<int>(result.iterations),
                    1e3 * result.solve_seconds, error);
    };
    report(bicgstab(*a, b, x, {}, m));
    report(gmres(*a, b, x, {.restart = 30}, m));
    report(gmres(*a, b, x, {.restart = 100}, m));
    std::puts(good ? "" : "  MISMATCH");
    return good;
}

bool run(const device_group& group, std::int64_t n) {
    std::printf("%lld^3 points, %d %s devices; iterations, time, error\n",
                static_cast<long long>(n), group.size(), to_string(group.kind()));
    std::printf("%8s  %-22s  %-22s  %s\n", "Peclet", "BiCGStab", "GMRES(30)", "GMRES(100)");
    bool good = true;
    for (const double peclet : {0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0})
        good = compare(group, n, peclet) && good;
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 24;
        const int devices = argc > 2 ? std::atoi(argv[2]) : std::max(1, gpus);
        if (n < 2 || devices < 1) {
            std::fputs("example_convection_diffusion [POINTS_AN_AXIS >= 2 [DEVICES >= 1]]\n",
                       stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n);
        std::puts(good ? "All solutions are right." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_convection_diffusion: %s\n", e.what());
        return 1;
    }
}
