// A heat equation in implicit steps: every step solves a system with the pattern of the one before
// and other values, from the solution of the one before.
//
//     example_heat [POINTS_AN_AXIS [STEPS [DEVICES]]]
//
// u_t = div(k(x, y, t) grad u) + f on the unit square, u = 0 on its boundary, with f such that
// u = exp(-t) sin(pi x) sin(pi y). Checks: the error is of second order in h and dt; a system that
// was updated and one that was built anew give the same bits; memory does not grow. Prints how much
// cheaper an update is than a new set-up.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numbers>
#include <numeric>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double pi = std::numbers::pi;

double conductivity(double x, double y, double t) {
    return 2 + std::sin(5 * t) * std::cos(pi * x) * std::cos(pi * y);
}

double solution(double x, double y, double t) {
    return std::exp(-t) * std::sin(pi * x) * std::sin(pi * y);
}

/// The source f = u_t - div(k grad u) of the solution above.
double source(double x, double y, double t) {
    const double u = solution(x, y, t);
    const double wave = std::sin(5 * t);
    const double kx_ux = -pi * pi * wave * std::exp(-t) * std::sin(pi * x) * std::cos(pi * x) *
                         std::sin(pi * y) * std::cos(pi * y);
    return -u + 2 * pi * pi * conductivity(x, y, t) * u - 2 * kx_ux; // k_y u_y = k_x u_x
}

/// A grid of n x n points inside the square, row by row.
struct grid {
    std::int64_t n;

    [[nodiscard]] std::int64_t points() const { return n * n; }
    [[nodiscard]] double h() const { return 1.0 / static_cast<double>(n + 1); }
    [[nodiscard]] double x(std::int64_t p) const { return h() * static_cast<double>(p % n + 1); }
    [[nodiscard]] double y(std::int64_t p) const { return h() * static_cast<double>(p / n + 1); }

    /// Calls f(neighbour, dx, dy) for the five points of the stencil that are inside, ascending.
    template <class F>
    void stencil(std::int64_t p, const F& f) const {
        if (p >= n) f(p - n, 0, -1);
        if (p % n > 0) f(p - 1, -1, 0);
        f(p, 0, 0);
        if (p % n < n - 1) f(p + 1, 1, 0);
        if (p < n * (n - 1)) f(p + n, 0, 1);
    }
};

/// The places of the nonzeros, which are the same for all steps.
csr_matrix<double> pattern(const grid& g) {
    csr_matrix<double> a;
    a.rows = a.columns = g.points();
    for (std::int64_t p = 0; p < g.points(); ++p) {
        g.stencil(p, [&](std::int64_t q, int, int) {
            a.column_indices.push_back(static_cast<std::int32_t>(q));
        });
        a.row_offsets.push_back(a.nnz());
    }
    a.values.resize(a.column_indices.size());
    return a;
}

/// The values of I + 2/3 dt L(t), in the order of the pattern.
void assemble(const grid& g, double t, double dt, std::vector<double>& values) {
    const double h = g.h();
    std::size_t k = 0;
    for (std::int64_t p = 0; p < g.points(); ++p) {
        const auto face = [&](int dx, int dy) {
            return 2 * dt / (3 * h * h) * conductivity(g.x(p) + h * dx / 2, g.y(p) + h * dy / 2, t);
        };
        const double sum = face(0, -1) + face(-1, 0) + face(1, 0) + face(0, 1);
        g.stencil(p, [&](std::int64_t q, int dx, int dy) {
            values[k++] = q == p ? 1 + sum : -face(dx, dy);
        });
    }
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct outcome {
    double error = 0;                  ///< largest, at t = 1
    bool good = true;                  ///< all steps converged, updated and new systems agree
    std::int64_t iterations = 0;       ///< of all steps
    std::int64_t cold_iterations = 0;  ///< of the compared steps, from 0
    std::int64_t warm_iterations = 0;  ///< of the same steps, from the step before
    std::vector<double> solves;        ///< seconds in the solver, a step
    std::vector<double> updates;       ///< seconds until the updated system is ready, a step
    std::vector<double> setups;        ///< seconds until a new one is ready, a compared step
    std::vector<std::size_t> live;     ///< bytes on all devices after each step
    std::vector<std::size_t> resident; ///< pages of this process after each step
};

std::size_t live_bytes(const device_group& group) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) sum += group[rank].ledger().live();
    return sum;
}

std::size_t resident_pages() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident;
}

/// Measures what a step would cost without update(): operator, preconditioner and vectors made
/// anew. It also counts the iterations from 0, and checks that the solution is the same.
void compare_with_new(const device_group& group, const csr_matrix<double>& matrix,
                      const std::vector<double>& rhs, const std::vector<double>& start,
                      const std::vector<double>& updated, outcome& out) {
    const auto began = std::chrono::steady_clock::now();
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto u = a->make_range_vector();
    group.synchronize();
    out.setups.push_back(since(began));

    std::vector<double> values(start.size());
    b.upload(rhs);
    u.upload(start);
    out.warm_iterations += cg(*a, b, u, {.initial_guess = true}, m).iterations;
    u.download(values);
    out.good = out.good && values == updated; // to the bit
    out.cold_iterations += cg(*a, b, u, {}, m).iterations;
}

/// The values of the solution above at all points.
std::vector<double> sample(const grid& g, double t) {
    std::vector<double> values(static_cast<std::size_t>(g.points()));
    for (std::int64_t p = 0; p < g.points(); ++p)
        values[static_cast<std::size_t>(p)] = solution(g.x(p), g.y(p), t);
    return values;
}

/// Runs BDF2 from t = 0 to 1: (I + 2/3 dt L(t)) u(t) = 4/3 u(t - dt) - 1/3 u(t - 2 dt) + 2/3 dt
/// f(t).
outcome march(const device_group& group, const grid& g, int steps) {
    const double dt = 1.0 / steps;
    csr_matrix<double> matrix = pattern(g);
    assemble(g, 0, dt, matrix.values);
    const auto a = make_operator(group, matrix);
    jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto u = a->make_range_vector();
    cg_solver solver(*a, m, {.initial_guess = true}); // keeps its vectors and its recording

    std::vector<double> older = sample(g, -dt);
    std::vector<double> values = sample(g, 0);
    std::vector<double> rhs(values.size());
    u.upload(values);

    outcome out;
    for (int step = 1; step <= steps; ++step) {
        const double t = dt * step;
        for (std::int64_t p = 0; p < g.points(); ++p) {
            const auto i = static_cast<std::size_t>(p);
            rhs[i] = (4 * values[i] - older[i] + 2 * dt * source(g.x(p), g.y(p), t)) / 3;
        }
        assemble(g, t, dt, matrix.values);
        older = values;

        const auto began = std::chrono::steady_clock::now();
        a->update(matrix.values);
        m.update(*a);
        group.synchronize();
        out.updates.push_back(since(began));

        const auto updated = std::chrono::steady_clock::now();
        b.upload(rhs);
        const solve_result result = solver(b, u);
        u.download(values);
        out.solves.push_back(since(updated));
        out.iterations += result.iterations;
        out.good = out.good && result.converged();

        if (step % 25 == 0) compare_with_new(group, matrix, rhs, older, values, out);
        out.live.push_back(live_bytes(group));
        out.resident.push_back(resident_pages());
    }
    for (std::int64_t p = 0; p < g.points(); ++p)
        out.error = std::max(out.error, std::fabs(values[static_cast<std::size_t>(p)] -
                                                  solution(g.x(p), g.y(p), 1)));
    return out;
}

/// Returns whether the devices hold no byte more than after the first step, and the process gains
/// less than 1 MiB more in the second half of the steps than in the first.
bool flat(const outcome& out) {
    const std::size_t page = 4096;
    const auto half = out.resident.begin() + static_cast<std::ptrdiff_t>(out.resident.size() / 2);
    const std::size_t early = *std::max_element(out.resident.begin(), half);
    const std::size_t late = *std::max_element(half, out.resident.end());
    const std::size_t growth = page * (late - std::min(early, late));
    const auto [least, most] = std::ranges::minmax_element(out.live);
    std::printf("memory             %zu bytes on the devices after each step (most %zu), resident "
                "growth %zu KiB\n",
                *least, *most, growth / 1024);
    // A set-up for comparison leaves what it freed with the allocator; a leak grows beyond that.
    return *least == *most && growth < 1024 * 1024 + *most;
}

bool run(const device_group& group, int n, int steps) {
    const outcome coarse = march(group, {n / 2}, steps / 2);
    const outcome fine = march(group, {n}, steps);
    const double ratio = std::pow((n + 1.0) / (n / 2 + 1.0), 2);
    std::printf("%d x %d points, %d steps on %d %s devices\n", n, n, steps, group.size(),
                to_string(group.kind()));
    std::printf("error at t = 1     %.2e; with half the points and steps %.2e, %.2f times it "
                "(second order: %.2f)\n",
                fine.error, coarse.error, coarse.error / fine.error, ratio);
    std::printf("iterations         %.1f a step; on compared steps %.1f warm, %.1f from 0\n",
                static_cast<double>(fine.iterations) / steps,
                static_cast<double>(fine.warm_iterations) / static_cast<double>(fine.setups.size()),
                static_cast<double>(fine.cold_iterations) /
                    static_cast<double>(fine.setups.size()));
    const double update = *std::ranges::min_element(fine.updates);
    const double setup = *std::ranges::min_element(fine.setups);
    const double solve = *std::ranges::min_element(fine.solves);
    std::printf(
        "update             %.1f us at best (operator and Jacobi), a new set-up %.1f us: %.1f "
        "times it\n",
        1e6 * update, 1e6 * setup, setup / update);
    std::printf(
        "whole step         %.1f us at best with update, %.1f us with a new set-up (solve %.1f)\n",
        1e6 * (update + solve), 1e6 * (setup + solve), 1e6 * solve);
    return flat(fine) && coarse.good && fine.good && coarse.error / fine.error > 0.9 * ratio &&
           fine.warm_iterations < fine.cold_iterations;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 64;
        const int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
        const int devices = argc > 3 ? std::atoi(argv[3]) : std::max(1, gpus);
        if (n < 4 || steps < 50 || devices < 1) {
            std::fputs("example_heat [POINTS_AN_AXIS >= 4 [STEPS >= 50 [DEVICES >= 1]]]\n", stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n, steps);
        std::puts(good ? "All checks hold." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_heat: %s\n", e.what());
        return 1;
    }
}
