// A preconditioner applied to a vector of the host.
#pragma once

#include <vector>

#include <doctest/doctest.h>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>

#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

/// z = M^-1 r, twice: the first application must leave nothing behind that the second one reads.
template <class T, class M>
[[nodiscard]] std::vector<T> applied(const matrix_operator<T>& a, const M& m,
                                     const std::vector<T>& values) {
    const auto r = make_range_vector(a.layout(), values);
    auto z = a.make_range_vector();
    execution run(a.comm(), {});
    m.apply(run, r, z);
    m.apply(run, r, z);
    run.flush();
    CHECK(copies_agree(z));
    return values_of(z);
}

} // namespace krylith::testing
