// A preconditioner of the user's own on all GPUs: the lines of a grid, each solved by a thread of a
// CUDA kernel, which is recorded into the devices' own loop.
//
//     example_own_preconditioner_cuda [POINTS_AN_AXIS]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

constexpr int longest_line = 256;

/// The elimination of a line, which has 6 on the diagonal and -1 beside it: what is left above the
/// diagonal.
struct line_factors {
    double above[longest_line];
};

line_factors eliminate() {
    line_factors f{};
    f.above[0] = -1.0 / 6;
    for (int i = 1; i < longest_line; ++i) f.above[i] = -1.0 / (6 + f.above[i - 1]);
    return f;
}

/// Solves the lines of n points that lie in rows [first, end), one thread for each; where a
/// device's rows end within a line, it is two shorter ones.
__global__ void solve_lines(const __grid_constant__ line_factors f, std::int64_t n,
                            std::int64_t first, std::int64_t end, const double* r, double* z) {
    const std::int64_t line =
        first / n + blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    const std::int64_t begin = (line * n > first ? line * n : first) - first;
    const std::int64_t stop = ((line + 1) * n < end ? (line + 1) * n : end) - first;
    double before = 0;
    for (std::int64_t i = begin; i < stop; ++i)
        z[i] = before = -(r[i] + before) * f.above[i - begin];
    for (std::int64_t i = stop - 2; i >= begin; --i) z[i] -= f.above[i - begin] * z[i + 1];
}

/// Enqueues the kernel and returns: it is called once for each application that is recorded.
void enqueue_lines(std::int64_t n, const preconditioner_call<double>& call) {
    static const line_factors factors = eliminate();
    const std::int64_t lines = (call.rows.end - 1) / n - call.rows.begin / n + 1;
    const auto blocks = static_cast<unsigned>((lines + 127) / 128);
    solve_lines<<<blocks, 128, 0, static_cast<cudaStream_t>(call.stream)>>>(
        factors, n, call.rows.begin, call.rows.end, call.r, call.z);
}

template <class M>
solve_result solve(const matrix_operator<double>& a, const M& m) {
    auto b = a.make_range_vector();
    auto x = a.make_range_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(a.size()), 1.0));
    return cg(a, b, x, {.rtol = 1e-8}, m);
}

bool compare(std::int64_t n) {
    if (n < 1 || n > longest_line) throw std::runtime_error("lines have 1 to 256 points");
    std::vector<int> ordinals(static_cast<std::size_t>(cuda_device_count()));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    const auto a = make_operator(device_group::cuda(ordinals), poisson3d<double>(n));
    const auto lines = make_preconditioner(
        *a, [n](const preconditioner_call<double>& call) { enqueue_lines(n, call); },
        {.name = "lines"});
    const solve_result plain = solve(*a, identity());
    const solve_result with_lines = solve(*a, lines);
    std::printf("%d GPUs: %d iterations without, %d with the lines solved (%s)\n",
                a->layout()->comm.ranks(), static_cast<int>(plain.iterations),
                static_cast<int>(with_lines.iterations),
                with_lines.recorded ? "recorded" : "eager");
    return plain.converged() && with_lines.converged() && with_lines.iterations < plain.iterations;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool good = compare(argc > 1 ? std::atoi(argv[1]) : 96);
        std::puts(good ? "The lines save iterations." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_own_preconditioner_cuda: %s\n", e.what());
        return 1;
    }
}
