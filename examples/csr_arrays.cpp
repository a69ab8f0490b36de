// A matrix in the arrays of another program, here Fortran's: indices from 1, in 32 or 64 bits.
//
//     example_csr_arrays [ROWS [DEVICES]]
//
// A chain of masses and springs with friction, of which the solution is known. Checks: the error
// of the solution, with every width of offsets and columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <krylith/adapters/csr_arrays.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// The other program's matrix: arrays ia, ja, a in its own integers, counted from 1.
template <class Offset, class Column>
struct fortran_program {
    std::vector<Offset> ia{1};
    std::vector<Column> ja;
    std::vector<double> a;

    explicit fortran_program(std::int64_t n) {
        const auto entry = [&](std::int64_t column, double value) {
            if (column < 1 || column > n) return;
            ja.push_back(static_cast<Column>(column));
            a.push_back(value);
        };
        for (std::int64_t row = 1; row <= n; ++row) {
            entry(row - 1, -1.0);
            entry(row, 3.0);
            entry(row + 1, -1.5); // not symmetric
            ia.push_back(static_cast<Offset>(a.size() + 1));
        }
    }
};

/// Returns whether A x = b has the solution 1, 2, 1, 2 ... for which b was made.
template <class Offset, class Column>
bool solve(const device_group& group, std::int64_t n, const char* kind) {
    const fortran_program<Offset, Column> program(n);
    const auto matrix =
        adapt_csr(n, n, program.ia.data(), program.ja.data(), program.a.data(), index_base::one);
    const auto a = make_operator<double>(group, matrix);
    const jacobi<double> m(*a);

    std::vector<double> b(static_cast<std::size_t>(n));
    const auto exact = [](std::int64_t row) { return row % 2 == 0 ? 1.0 : 2.0; };
    for (std::int64_t row = 0; row < n; ++row)
        b[static_cast<std::size_t>(row)] = 3 * exact(row) - (row > 0 ? exact(row - 1) : 0) -
                                           (row < n - 1 ? 1.5 * exact(row + 1) : 0);
    auto rhs = a->make_range_vector();
    auto x = a->make_range_vector();
    rhs.upload(b);
    const solve_result result = gmres(*a, rhs, x, {.rtol = 1e-12}, m);
    x.download(b);

    double error = 0;
    for (std::int64_t row = 0; row < n; ++row)
        error = std::max(error, std::fabs(b[static_cast<std::size_t>(row)] - exact(row)));
    std::printf("%-32s %zu bytes copied, %d iterations, error %.1e\n", kind, matrix.copied_bytes(),
                static_cast<int>(result.iterations), error);
    return result.converged() && error <= 1e-9;
}

bool run(const device_group& group, std::int64_t n) {
    bool good = solve<std::int32_t, std::int32_t>(group, n, "offsets 32 bits, columns 32 bits");
    good = solve<std::int64_t, std::int32_t>(group, n, "offsets 64 bits, columns 32 bits") && good;
    return solve<std::int64_t, std::int64_t>(group, n, "offsets 64 bits, columns 64 bits") && good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int gpus = cuda_device_count();
        const int n = argc > 1 ? std::atoi(argv[1]) : 20000;
        const int devices = argc > 2 ? std::atoi(argv[2]) : std::max(1, gpus);
        if (n < 2 || devices < 1) {
            std::fputs("example_csr_arrays [ROWS >= 2 [DEVICES >= 1]]\n", stderr);
            return 2;
        }
        std::vector<int> ordinals(static_cast<std::size_t>(devices));
        std::iota(ordinals.begin(), ordinals.end(), 0);
        const auto group = gpus > 0 ? device_group::cuda(ordinals) : device_group::host(devices);
        const bool good = run(group, n);
        std::puts(good ? "All widths give the solution." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_csr_arrays: %s\n", e.what());
        return 1;
    }
}
