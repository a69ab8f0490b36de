// A generated system in a precision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <krylith/matrix/csr.hpp>

#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

/// Returns a finite value of the precision; beyond its range, the largest.
template <class T>
[[nodiscard]] T stored(double value) {
    constexpr double most = std::numeric_limits<T>::max();
    return static_cast<T>(std::clamp(value, -most, most));
}

template <class T>
[[nodiscard]] std::vector<T> stored(const std::vector<double>& values) {
    std::vector<T> result;
    for (const double value : values) result.push_back(stored<T>(value));
    return result;
}

template <class T>
[[nodiscard]] krylith::csr_matrix<T> stored(const linear_system& s) {
    krylith::csr_matrix<T> a;
    a.rows = a.columns = s.size();
    for (const auto& row : s.rows) {
        for (const entry& e : row) {
            a.column_indices.push_back(e.column);
            a.values.push_back(stored<T>(e.value));
        }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    }
    return a;
}

template <class T>
[[nodiscard]] number_range range_of() {
    if (sizeof(T) == 8) return {300, -320};
    return {37, -44};
}

} // namespace random_systems
