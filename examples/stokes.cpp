// Stokes flow in a cavity whose lid moves, by GMRES with a preconditioner put together from parts:
// multigrid for the velocities, and the pressures as they are. The number of iterations grows
// slowly with the grid.
//
//     example_stokes [CELLS]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/preconditioner.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

using namespace krylith;

namespace {

/// The first `count` rows and columns of a matrix.
csr_matrix<double> leading_block(const csr_matrix<double>& a, std::int64_t count) {
    csr_matrix<double> block{count, count, {0}, {}, {}};
    for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
        for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
             k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
            if (a.column_indices[k] >= count) continue;
            block.column_indices.push_back(a.column_indices[k]);
            block.values.push_back(a.values[k]);
        }
        block.row_offsets.push_back(static_cast<std::int64_t>(block.values.size()));
    }
    return block;
}

/// The layout of those of a layout's rows that lie in [begin, end): each device keeps its own.
layout_handle part_of(const layout& whole, std::int64_t begin, std::int64_t end) {
    row_partition rows = whole.rows;
    for (std::int64_t& boundary : rows.begin) boundary = std::clamp(boundary, begin, end) - begin;
    return std::make_shared<const layout>(layout{whole.comm, rows});
}

/// M = diag(L, I) for A = [L B'; B 0]: one cycle of multigrid for the velocities' Laplacian L; the
/// Schur complement B L^-1 B' is close to I on a staggered grid (Elman, Silvester, Wathen, Finite
/// Elements and Fast Iterative Solvers, 2nd ed., section 4.2).
class stokes_blocks {
public:
    stokes_blocks(const matrix_operator<double>& a, const csr_matrix<double>& laplacian)
        : velocities_(part_of(*a.layout(), 0, laplacian.rows)),
          pressures_(part_of(*a.layout(), laplacian.rows, a.size())),
          laplacian_(make_operator<double>({velocities_, velocities_}, laplacian)),
          inverse_(*laplacian_, laplacian) {}

    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots = {}) const {
        vector<double> velocity = first_of(velocities_, z);
        inverse_.apply(run, first_of(velocities_, r), velocity);
        vector<double> pressure = rest_of(pressures_, z);
        const vector<double> continuity = rest_of(pressures_, r);
        fused(run, pressure = continuity);
        finish_apply(run, z, dots);
    }
    [[nodiscard]] bool recordable() const { return inverse_.recordable(); }
    [[nodiscard]] std::int64_t bytes() const { return inverse_.bytes(); }
    [[nodiscard]] std::string name() const { return "diag(amg, I)"; }
    [[nodiscard]] int kernels() const { return inverse_.kernels() + 2; }

private:
    /// A device's velocities come first, then its pressures.
    [[nodiscard]] static vector<double> first_of(const layout_handle& part,
                                                 const vector<double>& v) {
        std::vector<double*> arrays;
        for (int rank = 0; rank < part->comm.ranks(); ++rank) arrays.push_back(v.data(rank));
        return vector<double>::borrow(part, arrays);
    }
    [[nodiscard]] vector<double> rest_of(const layout_handle& part, const vector<double>& v) const {
        std::vector<double*> arrays;
        for (int rank = 0; rank < part->comm.ranks(); ++rank)
            arrays.push_back(v.data(rank) + velocities_->held(rank));
        return vector<double>::borrow(part, arrays);
    }

    layout_handle velocities_;
    layout_handle pressures_;
    std::unique_ptr<matrix_operator<double>> laplacian_;
    amg<double> inverse_;
};

/// The force of a lid that moves to the right with velocity 1, half a cell above the topmost u.
std::vector<double> moving_lid(std::int64_t cells, std::int64_t rows) {
    std::vector<double> b(static_cast<std::size_t>(rows), 0.0);
    const std::int64_t top = (cells - 1) * (cells - 1);
    for (std::int64_t x = 0; x < cells - 1; ++x) b[static_cast<std::size_t>(top + x)] = 2;
    return b;
}

/// |b - A x| / |b| by a plain loop.
double relative_residual(const csr_matrix<double>& a, const std::vector<double>& b,
                         const std::vector<double>& x) {
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

bool solve(const device_group& group, std::int64_t cells) {
    const auto matrix = stokes2d<double>(cells, cells);
    const std::int64_t velocities = 2 * cells * (cells - 1);
    const auto a = make_operator(group, matrix, {.kind = operators::halo});
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    const std::vector<double> force = moving_lid(cells, matrix.rows);
    b.upload(force);

    const stokes_blocks m(*a, leading_block(matrix, velocities));
    const solver_options options{.max_iterations = 1000, .restart = 100};
    const solve_result with = gmres(*a, b, x, options, m);
    std::vector<double> flow(force.size());
    x.download(flow);
    const double residual = relative_residual(matrix, force, flow);
    const solve_result without = gmres(*a, b, x, options);
    std::printf("%4lld x %-4lld %8lld unknowns: %3lld iterations, without preconditioner %s%lld\n",
                static_cast<long long>(cells), static_cast<long long>(cells),
                static_cast<long long>(matrix.rows), static_cast<long long>(with.iterations),
                without.converged() ? "" : "not in ", static_cast<long long>(without.iterations));
    return with.converged() && with.iterations < 120 && residual < 2e-8;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto group = device_group::available();
        const std::int64_t cells = argc > 1 ? std::atoll(argv[1]) : 64;
        for (std::int64_t n = std::max<std::int64_t>(cells / 4, 2); n <= cells; n *= 2)
            if (!solve(group, n)) return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "stokes: %s\n", e.what());
        return 1;
    }
    return 0;
}
