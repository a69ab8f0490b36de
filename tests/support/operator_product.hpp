// Products of an operator with vectors of the host.
#pragma once

#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

/// Returns A x, or nothing where the devices' copies of it differ.
template <class T>
std::vector<T> product(const matrix_operator<T>& a, const std::vector<T>& x0) {
    execution run(a.layout()->comm, {});
    auto source = make_range_vector(a.layout(), x0);
    auto x = a.make_domain_vector();
    auto y = a.make_range_vector();
    fused(run, x = source);
    a.apply(run, T(1), x, T(0), y);
    run.flush();
    a.layout()->comm.synchronize(); // results of other devices are there, too
    return copies_agree(y) ? values_of(y) : std::vector<T>();
}

} // namespace krylith::testing
