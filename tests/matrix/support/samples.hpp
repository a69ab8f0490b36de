// Small matrices whose values a file format could lose.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::test {

template <class T>
struct named_matrix {
    std::string name;
    csr_matrix<T> matrix;
};

template <class T>
std::vector<named_matrix<T>> file_samples() {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const T inf = std::numeric_limits<T>::infinity();
    const T tiny = std::numeric_limits<T>::denorm_min();
    return {{"0 x 0", {}},
            {"no columns", {3, 0, {0, 0, 0, 0}, {}, {}}},
            {"no rows", {0, 7, {0}, {}, {}}},
            {"one entry", {1, 1, {0, 1}, {0}, {T(0.1)}}},
            {"wide, an empty row", {3, 5, {0, 2, 2, 3}, {1, 4, 0}, {T(1) / 3, -2, T(1e-30)}}},
            {"tall", {5, 2, {0, 0, 1, 1, 1, 2}, {1, 0}, {1, 2}}},
            {"most columns", {1, 2147483647, {0, 2}, {0, 2147483646}, {3, 4}}},
            {"unsorted, twice the same place", {2, 3, {0, 3, 4}, {2, 0, 2, 1}, {1, 2, 3, 4}}},
            {"values that compare unlike their bits",
             {1, 7, {0, 7}, {0, 1, 2, 3, 4, 5, 6}, {nan, -nan, inf, -inf, T(-0.0), T(0), tiny}}}};
}

/// Compares bits, which == doesn't for NaN and -0.
template <class T>
bool same_bits(const csr_view<T>& a, const csr_view<T>& b) {
    const auto same = [](const auto& x, const auto& y) {
        return x.size() == y.size() &&
               (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    };
    return a.rows == b.rows && a.columns == b.columns && same(a.row_offsets, b.row_offsets) &&
           same(a.column_indices, b.column_indices) && same(a.values, b.values);
}

template <class T>
bool same_bits(const csr_matrix<T>& a, const csr_matrix<T>& b) {
    return same_bits(csr_view<T>(a), csr_view<T>(b));
}

} // namespace krylith::test
