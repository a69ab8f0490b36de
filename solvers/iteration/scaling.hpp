// Powers of two that keep a solve away from the ends of the number range, where squares vanish or
// overflow. Solvers iterate on (s A) y = t b with x = (s / t) y. The scaling is exact: only
// exponents differ from the solve of A x = b.
#pragma once

#include <krylith/vector/vector.hpp>

namespace krylith {

/// Whether a vector of T with this squared norm needs no scaling.
template <class T>
[[nodiscard]] constexpr bool ordinary(double squared_norm) {
    return is_ordinary(squared_norm, sizeof(T));
}

/// The largest k for which 2^k and 2^-k are normal numbers, with room for sums.
template <class T>
inline constexpr int largest_exponent = sizeof(T) == 8 ? 1000 : 120;

/// Where the largest entry of A b is below 2^-k for b of size 1, products are so close to the
/// smallest numbers, or among them, that they lose digits.
template <class T>
inline constexpr int least_product = sizeof(T) == 8 ? 969 : 102;

/// Such a b, and with it x, may grow by 2^k: squares of entries and their sums stay in range.
template <class T>
inline constexpr int product_room = sizeof(T) == 8 ? 130 : 48;

/// Returns k with max |v_i| in [2^k, 2^(k+1)), at most largest_exponent in magnitude, and 0 for v =
/// 0. For NaN or infinity it returns 0 and clears `finite`. It downloads v, so it is for rare
/// cases.
template <class T>
[[nodiscard]] int exponent_of(const vector<T>& v, bool& finite);

} // namespace krylith
