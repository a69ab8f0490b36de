// What tests of joint loops share: their making, and the comparison with solves one by one.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/csr.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

template <class T>
double relative_residual(const csr_matrix<T>& a, std::span<const T> x, std::span<const T> b) {
    double rr = 0;
    double bb = 0;
    for (std::size_t row = 0; row < b.size(); ++row) {
        double r = static_cast<double>(b[row]);
        for (auto at = static_cast<std::size_t>(a.row_offsets[row]);
             at < static_cast<std::size_t>(a.row_offsets[row + 1]); ++at)
            r -= static_cast<double>(a.values[at]) *
                 static_cast<double>(x[static_cast<std::size_t>(a.column_indices[at])]);
        rr += r * r;
        bb += static_cast<double>(b[row]) * static_cast<double>(b[row]);
    }
    return bb > 0 ? std::sqrt(rr / bb) : std::sqrt(rr);
}

template <class T>
using joint = std::unique_ptr<joint_solver<T>>;

template <class T>
joint<T> make_joint_solver(const char* solver, const device_group& group,
                           const csr_matrix<T>& matrix, int k,
                           joint_preconditioner m = joint_preconditioner::none,
                           const solver_options& options = {}) {
    return find_solver(solver).joint.of<T>()(group, csr_view<T>(matrix), k, m, options);
}

/// Solves k random systems at once and one after the other by `alone`. Rounding may make the one
/// take `slack` iterations more than the other.
template <class T>
void compare(const device_group& group, const csr_matrix<T>& matrix, int k,
             joint_preconditioner precondition, double tolerance, const char* solver = "cg",
             const char* single = "cg:launched", std::int64_t slack = 1,
             const solver_options& options = {}) {
    const auto n = static_cast<std::size_t>(matrix.rows);
    const std::vector<T> b = random_columns<T>(matrix.rows, k, 900);
    std::vector<T> x(b.size(), T(7)); // what a solve from 0 must not see
    const joint<T> joint_solver =
        make_joint_solver(solver, group, matrix, k, precondition, options);
    const auto together = joint_solver->solve(b, x);
    REQUIRE(together.size() == static_cast<std::size_t>(k));
    const auto a = make_operator(group, matrix);
    const auto m = make_preconditioner<T>(
        precondition == joint_preconditioner::jacobi ? "jacobi" : "none", *a);
    auto rhs = a->make_range_vector();
    auto solution = a->make_range_vector();
    for (std::size_t j = 0; j < together.size(); ++j) {
        INFO("column " << j << ": " << together[j].diagnosis);
        const std::span<const T> bj(b.data() + j * n, n);
        rhs.upload(bj);
        const auto alone = find_solver(single).solve(*a, rhs, solution, options, m);
        CHECK(together[j].reason == alone.reason);
        CHECK(std::abs(together[j].iterations - alone.iterations) <= slack); // rows are summed
                                                                             // alike, but not in
                                                                             // one order
        CHECK(relative_residual<T>(matrix, std::span<const T>(x.data() + j * n, n), bj) <=
              1.01 * tolerance);
        CHECK(together[j].relative_residual() <= tolerance);
    }
    std::vector<T> again(b.size());
    (void)joint_solver->solve(b, again);
    CHECK(again == x); // the same bits
}

} // namespace krylith::testing
