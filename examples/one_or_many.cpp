// One device or many? The program solves one diffusion problem on 1, 2, ... all GPUs (or on slices
// of the CPU), and prints what each further device brings.
//
//     example_one_or_many [POINTS_AN_AXIS [DEVICES]]
//
// -div(k grad u) = f in a cube of two materials, k = 1 and 100, in blocks like a checkerboard.
// Checks: all solves converge to the same u, whose residual a loop of this program computes again.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/cost_model.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double rtol = 1e-8;

struct run {
    int devices = 1;
    std::string kind;    ///< the operator that was built
    std::string because; ///< why it was taken
    double seconds = 0;  ///< an iteration, median of several solves
    bool converged = false;
    std::vector<double> u{};
};

run solve(const csr_matrix<double>& matrix, const std::vector<double>& f, int devices) {
    const auto a = make_operator(device_group::available(devices), matrix); // chooses how x moves
    const jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(f);
    run r{devices, to_string(a->kind()), a->choice() ? a->choice()->because : "nothing moves"};
    (void)cg(*a, b, x, {.max_iterations = 10}, m); // the first run is slow
    std::array<double, 5> seconds{};
    for (double& s : seconds) {
        const solve_result result = cg(*a, b, x, {.rtol = rtol}, m);
        s = result.seconds_per_iteration();
        r.converged = result.converged();
    }
    std::ranges::sort(seconds);
    r.seconds = seconds[seconds.size() / 2];
    r.u.resize(f.size());
    x.download(r.u);
    return r;
}

double norm(const std::vector<double>& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// Returns ||f - A u|| / ||f||, by a plain loop.
double residual(const csr_matrix<double>& a, const std::vector<double>& f,
                const std::vector<double>& u) {
    std::vector<double> r = f;
    for (std::size_t row = 0; row < r.size(); ++row)
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto entry = static_cast<std::size_t>(k);
            r[row] -= a.values[entry] * u[static_cast<std::size_t>(a.column_indices[entry])];
        }
    return norm(r) / norm(f);
}

double distance(const std::vector<double>& u, const std::vector<double>& v) {
    std::vector<double> difference(u.size());
    std::ranges::transform(u, v, difference.begin(), std::minus<>());
    return norm(difference) / norm(v);
}

bool compare(int n, int most) {
    const auto matrix = jump_diffusion<double>(n, 100.0, std::max(1, n / 8));
    const std::vector<double> f(static_cast<std::size_t>(matrix.rows), 1.0);
    std::vector<run> runs;
    bool good = true;
    std::printf("devices  operator  us/iteration  speed-up  efficiency  residual\n");
    for (int devices = 1; devices <= most; ++devices) {
        runs.push_back(solve(matrix, f, devices));
        const run& r = runs.back();
        const double speedup = runs.front().seconds / r.seconds;
        const double left = residual(matrix, f, r.u);
        std::printf("%7d  %-8s  %12.2f  %7.2fx  %9.0f%%  %8.1e\n", devices, r.kind.c_str(),
                    1e6 * r.seconds, speedup, 100 * speedup / devices, left);
        good = good && r.converged && left <= 1.01 * rtol && distance(r.u, runs.front().u) < 1e-5;
    }
    const run& best = *std::ranges::min_element(runs, {}, &run::seconds);
    std::printf("Best on %d.\nOperator on %d: %s.\n", best.devices, most,
                runs.back().because.c_str());
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : gpus > 0 ? 160 : 32;
        const int most = argc > 2 ? std::atoi(argv[2]) : gpus > 0 ? gpus : 3;
        if (n < 2 || most < 1 || (gpus > 0 && most > gpus)) {
            std::fprintf(stderr, "example_one_or_many [POINTS_AN_AXIS >= 2 [DEVICES >= 1%s]]\n",
                         gpus > 0 ? ", at most the GPUs" : "");
            return 2;
        }
        std::printf("CG with Jacobi, diffusion in %d^3 cells of two materials, %s\n", n,
                    gpus > 0 ? "GPUs" : "slices of the CPU");
        const bool good = compare(n, most);
        std::puts(good ? "The same solution on any number of devices." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_one_or_many: %s\n", e.what());
        return 1;
    }
}
