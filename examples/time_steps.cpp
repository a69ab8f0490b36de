// Pressure in the ground while channels open in it: every step solves a system with the pattern of
// the one before and other values, by CG with algebraic multigrid that takes the new values.
//
//     example_time_steps [POINTS_AN_AXIS [STEPS [DEVICES]]]
//
// -div(k(x, y, t) grad p) = 1 on the unit square, p = 0 on its boundary. k = 1, but in channels,
// where it grows to 1e6 as t goes from 0 to 1. Checks: the residual of each
// step by a loop of its own; iterations stay within 1.5 times those of a hierarchy that is made
// anew, plus those of the step that shows that it is time to; memory is no more than twice that
// after the first step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr double contrast = 1e6;
constexpr int channels = 6;

/// Of the ground at a point.
double conductivity(double x, double y, double t) {
    // A channel winds through the square.
    const bool channel = static_cast<int>(2 * channels * (1 + y) + std::sin(6 * x)) % 2 != 0;
    return channel ? std::pow(contrast, t) : 1;
}

/// A grid of n x n points inside the square, row by row.
struct grid {
    std::int64_t n;

    [[nodiscard]] std::int64_t points() const { return n * n; }
    [[nodiscard]] double h() const { return 1.0 / static_cast<double>(n + 1); }

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

/// The values at time t, in the order of the pattern, times h^2.
void assemble(const grid& g, double t, std::vector<double>& values) {
    std::size_t k = 0;
    for (std::int64_t p = 0; p < g.points(); ++p) {
        const double x = g.h() * static_cast<double>(p % g.n + 1);
        const double y = g.h() * static_cast<double>(p / g.n + 1);
        const auto face = [&](int dx, int dy) {
            return conductivity(x + g.h() * dx / 2, y + g.h() * dy / 2, t);
        };
        const double sum = face(0, -1) + face(-1, 0) + face(1, 0) + face(0, 1);
        g.stencil(
            p, [&](std::int64_t q, int dx, int dy) { values[k++] = q == p ? sum : -face(dx, dy); });
    }
}

/// Returns ||b - A x|| / ||b||.
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

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::size_t live_bytes(const device_group& group) {
    std::size_t sum = 0;
    for (int rank = 0; rank < group.size(); ++rank) sum += group[rank].ledger().live();
    return sum;
}

struct outcome {
    bool good = true;               ///< all steps converged
    std::int64_t iterations = 0;    ///< of all steps
    std::int64_t most = 0;          ///< of a step
    double update_seconds = 0;      ///< of all steps: operator and M
    double solve_seconds = 0;       ///< of all steps
    int rebuilds = 0;               ///< that update() has made because they were due
    std::vector<std::size_t> bytes; ///< on all devices after each step
};

enum class hierarchy {
    told,   ///< takes new values, and is told the iterations of each solve
    untold, ///< takes new values
    anew    ///< is made anew in each step
};

outcome march(const device_group& group, const grid& g, int steps, hierarchy how) {
    csr_matrix<double> matrix = pattern(g);
    assemble(g, 0, matrix.values);
    const std::vector<double> rhs(static_cast<std::size_t>(g.points()), g.h() * g.h());
    const auto a = make_operator(group, matrix);
    const auto reuse = how == hierarchy::anew ? multigrid_reuse::none : multigrid_reuse::transfer;
    amg<double> m(*a, matrix, {.reuse = reuse});
    auto b = a->make_range_vector();
    auto p = a->make_range_vector();
    b.upload(rhs);
    cg_solver solver(*a, m, {.rtol = 1e-8});

    outcome out;
    std::vector<double> values(rhs.size());
    for (int step = 0; step <= steps; ++step) {
        assemble(g, static_cast<double>(step) / steps, matrix.values);

        const auto began = std::chrono::steady_clock::now();
        a->update(matrix.values);
        m.update(matrix);
        group.synchronize();
        out.update_seconds += since(began);

        const auto updated = std::chrono::steady_clock::now();
        const solve_result result = solver(b, p);
        if (how == hierarchy::told)
            m.solved(result.iterations); // many more than at first: the next update makes all anew
        out.solve_seconds += since(updated);

        p.download(values);
        out.good = out.good && result.converged() && residual(matrix, values, rhs) <= 1.01e-8;
        out.iterations += result.iterations;
        out.most = std::max(out.most, result.iterations);
        out.bytes.push_back(live_bytes(group));
    }
    out.rebuilds = m.rebuilds();
    return out;
}

void print(const char* name, const outcome& o, int steps) {
    std::printf("%-22s %10.1f %6d %10d %10.2f %10.2f\n", name,
                static_cast<double>(o.iterations) / (steps + 1), static_cast<int>(o.most),
                o.rebuilds, 1e3 * o.update_seconds / (steps + 1),
                1e3 * o.solve_seconds / (steps + 1));
}

bool run(const device_group& group, int n, int steps) {
    const outcome told = march(group, {n}, steps, hierarchy::told);
    const outcome untold = march(group, {n}, steps, hierarchy::untold);
    const outcome anew = march(group, {n}, steps, hierarchy::anew);
    std::printf("%d x %d points, %d steps on %d %s devices\n", n, n, steps, group.size(),
                to_string(group.kind()));
    std::puts("                       iterations   most   rebuilds  update, ms  solve, ms");
    print("update() and solved()", told, steps);
    print("update() alone", untold, steps);
    print("made anew in each step", anew, steps);
    // A solve that takes too many comes before each rebuild.
    const std::int64_t allowed =
        3 * anew.iterations / 2 + (told.rebuilds + 1) * (told.most - anew.most);
    const std::size_t most = *std::ranges::max_element(told.bytes);
    return told.good && untold.good && anew.good &&
           told.iterations <= std::max(allowed, anew.iterations) && most <= 2 * told.bytes.front();
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 64;
        const int steps = argc > 2 ? std::atoi(argv[2]) : 20;
        const int devices = argc > 3 ? std::atoi(argv[3]) : std::max(1, gpus);
        if (n < 2 || steps < 1 || devices < 1) {
            std::fputs("example_time_steps [POINTS_AN_AXIS >= 2 [STEPS >= 1 [DEVICES >= 1]]]\n",
                       stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n, steps);
        std::puts(good ? "All checks hold." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_time_steps: %s\n", e.what());
        return 1;
    }
}
