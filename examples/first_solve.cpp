// The shortest whole program: one system, solved and judged.
#include <cstdio>
#include <vector>

#include <krylith/krylith.hpp>

int main() {
    const auto matrix = krylith::load_matrix<double>("gallery:poisson3d:32"); // or "mine.mtx"
    const auto group = krylith::device_group::available(1); // a GPU, or else the CPU
    std::vector<double> b(32 * 32 * 32, 1.0), x(b.size());
    const auto result = krylith::solve(group, matrix, b, x);
    std::printf("%s: ||b - A x|| / ||b|| = %.1e\n", to_string(result.reason),
                result.relative_residual());
    return result.converged() ? 0 : 1;
}
