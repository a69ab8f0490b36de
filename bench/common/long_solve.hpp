// A solve that takes as many iterations as asked.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::bench {

/// A system on devices, solved by one of two kernels of CG. The start is so far from the solution
/// that the solve takes several hundred iterations to the last digit, unless its options end it.
struct long_solve {
    std::unique_ptr<matrix_operator<double>> a;
    vector<double> b, x;
    std::vector<double> start;

    long_solve(const communicator& comm, const csr_matrix<double>& matrix,
               const operator_options& options = {})
        : a(make_operator(comm, matrix, options)),
          b(a->make_range_vector()),
          x(a->make_range_vector()),
          start(static_cast<std::size_t>(matrix.rows), 1e30) {
        b.upload(std::vector<double>(start.size(), 1.0));
    }

    [[nodiscard]] solve_result solve(bool persistent, solver_options options) {
        x.upload(start);
        options.initial_guess = true;
        options.rtol = 0;
        options.divergence_tolerance = 1e100;
        options.stagnation_window = std::numeric_limits<std::int32_t>::max();
        return persistent ? persistent_cg(*a, b, x, options) : launched_cg(*a, b, x, options);
    }
};

} // namespace krylith::bench
