// Approximate inverses against the same by dense solves.
#pragma once

#include <vector>

#include <doctest/doctest.h>

#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// Compares M of a matrix with `inverse`, and on several host devices with M on one, bit by bit.
template <template <class> class M, class T, class Options>
void compare_with_inverse(const device_group& group, const csr_matrix<double>& given,
                          const Eigen::MatrixXd& inverse, const Options& options,
                          double tolerance) {
    const auto matrix = converted<T>(given);
    const auto r = random_values<T>(matrix.rows, 8);
    const Eigen::VectorXd expected = inverse * to_eigen(r);
    for (const auto kind : {operators::halo, operators::nz}) {
        const auto a = make_operator(group, matrix, {.kind = kind});
        const M<T> m(*a, matrix, options);
        const auto z = applied(*a, m, r);
        CHECK((to_eigen(z) - expected).norm() <= tolerance * expected.norm());
        if (group.kind() == backend::cuda) continue;
        const auto one = make_operator(device_group::host(1), matrix);
        CHECK(z == applied(*one, M<T>(*one, matrix, options), r));
    }
}

} // namespace krylith::testing
