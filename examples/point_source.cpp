// A point source in a box: a column of the inverse of the Laplacian, by solving A g = e_i.
//
//     example_point_source [POINTS_AN_AXIS [DEVICES]]
//
// g_j is what a unit source at point i causes at point j (temperature, potential), 0 on the walls.
// Checks: reciprocity (g_ij = g_ji, each from a solve of its own); the values against the sum over
// all eigenvectors of A; g is positive and largest at the source.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <numeric>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double rtol = 1e-12;

using place = std::array<std::int64_t, 3>; // counted from 0 in each direction

std::size_t row_of(std::int64_t n, const place& p) {
    return static_cast<std::size_t>((p[2] * n + p[1]) * n + p[0]);
}

/// Returns column `source` of the inverse; empty if the solver failed.
std::vector<double> column(const matrix_operator<double>& a, std::size_t source) {
    std::vector<double> g(static_cast<std::size_t>(a.size()), 0.0);
    g[source] = 1;
    auto b = a.make_range_vector();
    auto x = a.make_range_vector();
    b.upload(g);
    const solve_result result = cg(a, b, x, {.rtol = rtol});
    std::printf("source at row %zu: %s after %d iterations\n", source, to_string(result.reason),
                static_cast<int>(result.iterations));
    if (!result.converged()) return {};
    x.download(g);
    return g;
}

/// The same number by a sum over all eigenvectors v_k = sqrt(2 / (n + 1)) sin(i k pi / (n + 1)),
/// one for each direction: v(p) v(q) / lambda, n^3 terms.
double series(std::int64_t n, const place& p, const place& q) {
    const auto angle = [n](std::int64_t i, std::int64_t k) {
        return std::numbers::pi * static_cast<double>((i + 1) * k) / static_cast<double>(n + 1);
    };
    std::vector<double> weight[3]; // v_k(p) v_k(q), by direction
    std::vector<double> lambda;
    for (std::int64_t k = 1; k <= n; ++k) {
        lambda.push_back(4 * std::pow(std::sin(angle(0, k) / 2), 2));
        for (std::size_t d = 0; d < 3; ++d)
            weight[d].push_back(2.0 / static_cast<double>(n + 1) * std::sin(angle(p[d], k)) *
                                std::sin(angle(q[d], k)));
    }
    double sum = 0;
    for (std::size_t k = 0; k < lambda.size(); ++k)
        for (std::size_t j = 0; j < lambda.size(); ++j)
            for (std::size_t i = 0; i < lambda.size(); ++i)
                sum += weight[0][i] * weight[1][j] * weight[2][k] /
                       (lambda[i] + lambda[j] + lambda[k]);
    return sum;
}

/// The largest change that a residual of rtol allows: the norm of A^-1 is 1 over the least
/// eigenvalue.
double tolerance(std::int64_t n) {
    return 1.01 * rtol /
           (12 * std::pow(std::sin(std::numbers::pi / (2 * static_cast<double>(n + 1))), 2));
}

bool run(const device_group& group, std::int64_t n) {
    const auto a = make_operator(group, poisson3d<double>(n));
    const place middle = {n / 2, n / 2, n / 2};
    const place aside = {n / 4, n / 2 + 1, n - 2};
    const std::vector<double> g = column(*a, row_of(n, middle));
    const std::vector<double> h = column(*a, row_of(n, aside));
    if (g.empty() || h.empty()) return false;

    bool good = true;
    std::puts("distance  solved        series        1 / (4 pi r), without walls");
    for (std::int64_t r = 0; r <= n / 2; r = r == 0 ? 1 : 2 * r) {
        const place at = {n / 2 - r, n / 2, n / 2};
        const double solved = g[row_of(n, at)];
        const double expected = series(n, middle, at);
        std::printf("%8d  %.6e  %.6e  %.6e\n", static_cast<int>(r), solved, expected,
                    r > 0 ? 1 / (4 * std::numbers::pi * static_cast<double>(r)) : INFINITY);
        good = good && std::fabs(solved - expected) <= tolerance(n);
    }
    const double there = g[row_of(n, aside)];
    const double back = h[row_of(n, middle)];
    std::printf("there %.9e, back %.9e, tolerance %.1e\n", there, back, tolerance(n));
    return good && std::fabs(there - back) <= 2 * tolerance(n) &&
           *std::ranges::min_element(g) > 0 &&
           static_cast<std::size_t>(std::ranges::max_element(g) - g.begin()) == row_of(n, middle);
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 40;
        const int devices = argc > 2 ? std::atoi(argv[2]) : std::max(1, gpus);
        if (n < 4 || devices < 1) {
            std::fputs("example_point_source [POINTS_AN_AXIS >= 4 [DEVICES >= 1]]\n", stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n);
        std::puts(good ? "All checks hold." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_point_source: %s\n", e.what());
        return 1;
    }
}
