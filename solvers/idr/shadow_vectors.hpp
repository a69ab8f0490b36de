// The shadow vectors of IDR(s): as good as random, and a function of the global row.
#pragma once

#include <functional>

#include <krylith/vector/basis.hpp>

namespace krylith {

/// Returns s vectors of norm 1 that `make` makes, the same on any number of devices and in any
/// order of rows. Those of at most 10,000 rows are orthogonal; longer ones are so to about 1 /
/// sqrt(n). O(n s) on the host (O(n s^2) for the orthogonal ones) and a copy of n s values to the
/// devices.
template <class T>
[[nodiscard]] basis<T> make_shadow_vectors(int s, const std::function<vector<T>()>& make);

} // namespace krylith
