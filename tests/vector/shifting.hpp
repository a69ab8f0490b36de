// A permutation matrix, whose product shows every entry of x, ghosts too, bit by bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith::testing {

/// The length of x, by how much it is shifted, and what puts its ghosts: lists (halo), or all
/// entries (gather).
struct shift_case {
    std::int64_t n, shift;
    operator_kind kind = operators::halo;
};
constexpr auto gather = operators::allgather;

template <class T>
std::vector<T> rotated(std::vector<T> v, std::int64_t shift) {
    std::rotate(v.begin(), v.begin() + shift, v.end());
    return v;
}

template <class T>
struct shifting {
    shifting(const device_group& group, const shift_case& c)
        : a(make_operator(group, converted<T>(shift_matrix(c.n, c.shift)), {.kind = c.kind})),
          by(c.shift) {}

    /// Whether a product sees `expected` in x.
    [[nodiscard]] bool sees(execution& run, const vector<T>& x, const std::vector<T>& expected) {
        vector<T> y = a->make_range_vector();
        a->apply(run, T(1), x, T(0), y);
        return values_of(y) == rotated(expected, by);
    }
    std::unique_ptr<matrix_operator<T>> a;
    std::int64_t by;
};

} // namespace krylith::testing
