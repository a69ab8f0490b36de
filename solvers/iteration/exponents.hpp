// Powers of two of arrays in host memory (solvers/iteration/scaling.hpp says what for).
#pragma once

#include <span>

namespace krylith {

/// Returns k with max |v_i| in [2^k, 2^(k+1)), at most largest_exponent in magnitude, and 0 for v =
/// 0. For NaN or infinity it returns 0 and clears `finite`.
template <class T>
[[nodiscard]] int exponent_of(std::span<const T> v, bool& finite);

/// Multiplies v by 2^exponent.
template <class T>
void shift(std::span<T> v, int exponent);

} // namespace krylith
