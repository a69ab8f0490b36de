// Two preconditioners of the user's own: block Jacobi, which each device applies to its own rows,
// and SSOR, whose sweeps go through all rows, so that it doesn't depend on the number of devices.
//
//     example_own_preconditioner [MATRIX.mtx]
//
// The matrix needs a diagonal without zeros; without argument it is a convection-diffusion problem.
// own_preconditioner_cuda.cu has a preconditioner that is a CUDA kernel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_operator.hpp>

using namespace krylith;

namespace {

/// Calls visit(column, value) for the entries of a row.
template <class Visit>
void for_row(const csr_matrix<double>& a, std::int64_t row, const Visit& visit) {
    const auto i = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(a.row_offsets[i]);
         k < static_cast<std::size_t>(a.row_offsets[i + 1]); ++k)
        visit(std::int64_t{a.column_indices[k]}, a.values[k]);
}

std::vector<double> diagonal_of(const csr_matrix<double>& a) {
    std::vector<double> d(static_cast<std::size_t>(a.rows), 0.0);
    for (std::int64_t row = 0; row < a.rows; ++row)
        for_row(a, row, [&](std::int64_t column, double value) {
            if (column == row) d[static_cast<std::size_t>(row)] += value;
        });
    if (std::ranges::find(d, 0.0) != d.end())
        throw std::runtime_error("the matrix has a zero on its diagonal");
    return d;
}

/// One step of symmetric Gauss-Seidel (SSOR with omega = 1): M = (D + L) D^-1 (D + U). All rows
/// come in one call, in their order, so that the sweeps don't end where a device's rows do.
class ssor {
public:
    explicit ssor(const csr_matrix<double>& a) : a_(a), d_(diagonal_of(a)) {}

    void operator()(const preconditioner_call<double>& call) const {
        for (std::int64_t row = 0; row < a_.rows; ++row) { // (D + L) y = r
            double sum = call.r[row];
            for_row(a_, row, [&](std::int64_t column, double value) {
                if (column < row) sum -= value * call.z[column];
            });
            call.z[row] = sum / d_[static_cast<std::size_t>(row)];
        }
        for (std::int64_t row = a_.rows - 1; row >= 0; --row) { // (D + U) z = D y
            double sum = 0;
            for_row(a_, row, [&](std::int64_t column, double value) {
                if (column > row) sum += value * call.z[column];
            });
            call.z[row] -= sum / d_[static_cast<std::size_t>(row)];
        }
    }

private:
    const csr_matrix<double>& a_;
    std::vector<double> d_;
};

/// Block Jacobi: diagonal blocks of at most 10 rows, which end where a device's rows do, each
/// solved by elimination without pivoting, as is right for diagonally dominant matrices. A device
/// needs its own rows only.
class block_jacobi {
public:
    explicit block_jacobi(const csr_matrix<double>& a) : a_(a) {}

    void operator()(const preconditioner_call<double>& call) const {
        constexpr std::int64_t most = 10;
        for (std::int64_t first = call.rows.begin; first < call.rows.end; first += most) {
            const row_range block{first, std::min(first + most, call.rows.end)};
            const std::int64_t at = first - call.rows.begin;
            solve(block, call.r + at, call.z + at);
        }
    }

private:
    void solve(const row_range& block, const double* r, double* z) const {
        const auto n = static_cast<std::size_t>(block.size());
        std::vector<double> m(n * n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            for_row(a_, block.begin + static_cast<std::int64_t>(i),
                    [&](std::int64_t column, double value) {
                        if (block.contains(column))
                            m[i * n + static_cast<std::size_t>(column - block.begin)] += value;
                    });
            z[i] = r[i];
        }
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t i = k + 1; i < n; ++i) {
                const double factor = m[i * n + k] / m[k * n + k];
                for (std::size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
                z[i] -= factor * z[k];
            }
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t j = i + 1; j < n; ++j) z[i] -= m[i * n + j] * z[j];
            z[i] /= m[i * n + i];
        }
    }

    const csr_matrix<double>& a_;
};

/// Returns the iterations of GMRES for A x = ones.
template <class M>
std::int64_t iterations(const matrix_operator<double>& a, const M& m) {
    auto b = a.make_range_vector();
    auto x = a.make_range_vector();
    b.upload(std::vector<double>(static_cast<std::size_t>(a.size()), 1.0));
    const solve_result result = gmres(a, b, x, {.rtol = 1e-8, .restart = 60}, m);
    if (!result.converged()) throw std::runtime_error(result.diagnosis);
    return result.iterations;
}

/// Prints a row a number of devices. Returns whether the preconditioners help, and SSOR takes as
/// many iterations on each number of devices.
bool compare(const csr_matrix<double>& matrix) {
    std::puts("devices   none   block Jacobi   SSOR");
    bool good = true;
    std::int64_t first = 0;
    for (int devices = 1; devices <= 3; ++devices) {
        const auto a = make_operator(device_group::host(devices), matrix);
        const auto blocks = make_preconditioner(*a, block_jacobi(matrix), {.name = "blocks"});
        const auto sweeps = make_preconditioner(
            *a, ssor(matrix), {.kind = preconditioner_kind::whole_on_host, .name = "ssor"});
        const std::int64_t none = iterations(*a, identity());
        const std::int64_t with_blocks = iterations(*a, blocks);
        const std::int64_t with_sweeps = iterations(*a, sweeps);
        std::printf("%7d %6d %14d %6d\n", devices, static_cast<int>(none),
                    static_cast<int>(with_blocks), static_cast<int>(with_sweeps));
        if (devices == 1) first = with_sweeps;
        good = good && with_sweeps == first && with_sweeps < none && with_blocks < none;
    }
    return good;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const bool good = compare(argc > 1 ? read_matrix_market<double>(argv[1])
                                           : convection_diffusion<double>(12, 20));
        std::puts(good ? "SSOR takes the same iterations on any number of devices." : "MISMATCH");
        return good ? 0 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "example_own_preconditioner: %s\n", e.what());
        return 1;
    }
}
