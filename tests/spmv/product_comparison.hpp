// Products of an operator, with all that they can be asked for, beside sums in long double.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

struct factors {
    double alpha, beta;
};

/// Returns the first error; empty if all is right.
template <class T>
std::string multiply_and_compare(execution& run, const matrix_operator<T>& a,
                                 const csr_matrix<T>& matrix, factors f) {
    const auto x0 = random_values<T>(matrix.columns, 31);
    const auto w0 = random_values<T>(matrix.rows, 32);
    // beta = 0 must not read y, where a NaN would show.
    const auto y0 =
        f.beta == 0 ? std::vector<T>(w0.size(), T(NAN)) : random_values<T>(matrix.rows, 33);
    auto source = make_range_vector(a.domain_layout(), x0);
    auto w = make_range_vector(a.range_layout(), w0);
    auto y = make_range_vector(a.range_layout(), y0);
    auto x = a.make_domain_vector();
    scalar wy(run), yy(run);
    const auto alpha = static_cast<T>(f.alpha);
    const auto beta = static_cast<T>(f.beta);
    const auto expected = product(matrix, alpha, x0, beta, y0);

    fused(run, x = source);
    const reduction_into<T> dots[] = {wy = dot(w, y), yy = dot(y, y)};
    a.apply(run, alpha, x, beta, y, dots);
    run.flush();
    const auto result = values_of(y);
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!expected[i].template allows<T>(result[i]))
            return "row " + std::to_string(i) + ": " + std::to_string(result[i]) + " for " +
                   std::to_string(static_cast<double>(expected[i].value));
    if (!copies_agree(y)) return "the copies of y differ";
    // The dots are compared with products of the results themselves, in double: any order of
    // summation.
    if (!inner_product(w0, result).template allows<double>(run.get(wy.number())))
        return "dot(w, y)";
    if (!inner_product(result, result).template allows<double>(run.get(yy.number())))
        return "dot(y, y)";

    // Products without dots and with one run other kernels with the same arithmetic.
    y.upload(y0);
    a.apply(run, alpha, x, beta, y);
    run.flush();
    if (!same_bits(values_of(y), result)) return "without dots the result differs";
    y.upload(y0);
    a.apply(run, alpha, x, beta, y, std::span(dots, 1));
    run.flush();
    if (!same_bits(values_of(y), result)) return "with one dot the result differs";
    if (!inner_product(w0, result).template allows<double>(run.get(wy.number())))
        return "dot(w, y) alone";
    return "";
}

} // namespace krylith::testing
