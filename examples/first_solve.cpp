// The shortest whole program: one system, solved and judged.
#include <cstdio>
#include <vector>

#include <krylith/matrix/load.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

int main() {
    const auto matrix = krylith::load_matrix<double>("gallery:poisson3d:32"); // or "mine.mtx"
    const auto cpu = krylith::device_group::host(1); // GPUs: device_group::cuda(std::array{0, 1})
    const auto a = krylith::make_operator(cpu, matrix);
    auto b = a->make_range_vector(), x = a->make_range_vector();
    b.upload(std::vector<double>(32 * 32 * 32, 1.0));
    const auto result = krylith::cg(*a, b, x);
    std::printf("%s: ||b - A x|| / ||b|| = %.1e\n", to_string(result.reason),
                result.relative_residual());
    return result.converged() ? 0 : 1;
}
