// One matrix and many right-hand sides, one after another and at once: operator, preconditioner and
// vectors are made once, and each solve may start from what the solutions before suggest.
//
//     example_many_right_hand_sides [POINTS_AN_AXIS [RIGHT_HAND_SIDES [DEVICES]]]
//
// A warm spot moves through a box: each right-hand side resembles the one before. Checks: the
// residual of every solution by a loop of its own; the better the start, the fewer the iterations.
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
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// The heat around the point (t, 1/2, 1/2).
std::vector<double> warm_spot(std::int64_t n, double t) {
    std::vector<double> f;
    const auto at = [n](std::int64_t i) {
        return static_cast<double>(i + 1) / static_cast<double>(n + 1);
    };
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i)
                f.push_back(std::exp(-40 * (std::pow(at(i) - t, 2) + std::pow(at(j) - 0.5, 2) +
                                            std::pow(at(k) - 0.5, 2))));
    return f;
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

/// Solves for all right-hand sides at once and one after another, and compares. Both times are
/// those of the second solve, without transfers.
bool at_once(const device_group& group, const csr_matrix<double>& matrix, std::int64_t n,
             int count) {
    const auto rows = static_cast<std::size_t>(matrix.rows);
    std::vector<double> b;
    for (int i = 0; i < count; ++i)
        for (const double value : warm_spot(n, 0.4 + 0.005 * i)) b.push_back(value);
    bool good = true;
    /// Returns the seconds of a second solve by `solver`, which finds its loop recorded.
    const auto seconds = [&](column_solver<double>& solver) {
        std::vector<double> x(b.size());
        (void)solver.solve(b, x);
        const std::vector<solve_result> results = solver.solve(b, x);
        double sum = 0;
        for (std::size_t i = 0; i < results.size(); ++i) {
            // Columns of one loop have one time.
            if (i % static_cast<std::size_t>(solver.columns_a_loop()) == 0)
                sum += results[i].solve_seconds;
            const auto first = static_cast<std::ptrdiff_t>(i * rows);
            const auto last = static_cast<std::ptrdiff_t>((i + 1) * rows);
            const std::vector<double> rhs(b.begin() + first, b.begin() + last);
            const std::vector<double> solution(x.begin() + first, x.begin() + last);
            good = good && results[i].converged() && residual(matrix, solution, rhs) <= 1.01e-8;
        }
        return sum;
    };
    const column_method method{.solver = "cg", .preconditioner = "jacobi"};
    column_solver<double> solver(group, matrix, count, method);
    column_solver<double> single(group, matrix, count,
                                 {.solver = "cg", .preconditioner = "jacobi", .at_once = false});
    const double together = seconds(solver);
    const double alone = seconds(single);
    std::printf("at once, %d a loop: %.2f ms a solve; one after another: %.2f ms; %.2f times as "
                "fast\n",
                solver.columns_a_loop(), 1e3 * together / count, 1e3 * alone / count,
                alone / together);
    return good;
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool run(const device_group& group, std::int64_t n, int count) {
    const auto matrix = poisson3d<double>(n, random_scaling{1});
    (void)make_operator(group, matrix); // the first run is slow
    const auto began = std::chrono::steady_clock::now();
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    group.synchronize();
    const double setup = since(began);

    const char* const starts[] = {"0", "the solution before", "a line through two"};
    double seconds[3] = {};
    std::int64_t iterations[3] = {};
    double worst = 0;
    bool good = true;
    for (int start = 0; start < 3; ++start) {
        std::vector<double> solution(static_cast<std::size_t>(matrix.rows), 0.0);
        std::vector<double> before = solution;
        for (int i = 0; i < count; ++i) {
            const auto rhs = warm_spot(n, 0.4 + 0.005 * i);
            const auto clock = std::chrono::steady_clock::now();
            b.upload(rhs);
            if (start == 2) { // x still holds the solution before
                for (std::size_t j = 0; j < before.size(); ++j)
                    before[j] = 2 * solution[j] - before[j];
                x.upload(before);
            }
            const solve_result result = cg(*a, b, x, {.initial_guess = start > 0 && i > 0}, m);
            std::swap(before, solution);
            x.download(solution);
            seconds[start] += since(clock);
            iterations[start] += result.iterations;
            worst = std::max(worst, residual(matrix, solution, rhs));
            good = good && result.converged();
        }
    }

    std::printf("%lld rows, %d right-hand sides, %d %s devices; set-up once: %.2f ms\n",
                static_cast<long long>(matrix.rows), count, group.size(), to_string(group.kind()),
                1e3 * setup);
    std::puts("start                 iterations  ms a solve  with its share of the set-up  with a "
              "set-up of its own");
    for (int start = 0; start < 3; ++start)
        std::printf("%-20s  %10.1f  %10.2f  %28.2f  %24.2f\n", starts[start],
                    static_cast<double>(iterations[start]) / count, 1e3 * seconds[start] / count,
                    1e3 * (seconds[start] + setup) / count, 1e3 * (seconds[start] / count + setup));
    std::printf("largest residual %.2e\n", worst);
    return good && worst <= 1.01e-8 && iterations[1] < iterations[0] &&
           iterations[2] < iterations[1];
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 32;
        const int count = argc > 2 ? std::atoi(argv[2]) : 20;
        const int devices = argc > 3 ? std::atoi(argv[3]) : std::max(1, gpus);
        if (n < 2 || count < 2 || devices < 1) {
            std::fputs("example_many_right_hand_sides [POINTS_AN_AXIS >= 2 [RIGHT_HAND_SIDES >= 2 "
                       "[DEVICES >= 1]]]\n",
                       stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        bool good = run(group, n, count);
        good = at_once(group, poisson3d<double>(n, random_scaling{1}), n, count) && good;
        std::puts(good ? "All solutions are right." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_many_right_hand_sides: %s\n", e.what());
        return 1;
    }
}
