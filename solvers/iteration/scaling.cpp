#include <krylith/solvers/iteration/scaling.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <krylith/solvers/iteration/exponents.hpp>

namespace krylith {

template <class T>
int exponent_of(std::span<const T> v, bool& finite) {
    T largest = 0;
    for (const T value : v) {
        if (!std::isfinite(value)) {
            finite = false;
            return 0;
        }
        largest = std::max(largest, std::fabs(value));
    }
    if (largest == 0) return 0;
    return std::clamp(std::ilogb(largest), -largest_exponent<T>, largest_exponent<T>);
}

template <class T>
int exponent_of(const vector<T>& v, bool& finite) {
    std::vector<T> values(static_cast<std::size_t>(v.size()));
    v.download(values);
    return exponent_of(std::span<const T>(values), finite);
}

template <class T>
void shift(std::span<T> v, int exponent) {
    if (exponent == 0) return;
    for (T& value : v) value = std::ldexp(value, exponent);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template int exponent_of(std::span<const T>, bool&);                                           \
    template int exponent_of(const vector<T>&, bool&);                                             \
    template void shift(std::span<T>, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
