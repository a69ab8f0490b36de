#include <krylith/solvers/iteration/scaling.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace krylith {

template <class T>
int exponent_of(const vector<T>& v, bool& finite) {
    std::vector<T> values(static_cast<std::size_t>(v.size()));
    v.download(values);
    T largest = 0;
    for (const T value : values) {
        if (!std::isfinite(value)) {
            finite = false;
            return 0;
        }
        largest = std::max(largest, std::fabs(value));
    }
    if (largest == 0) return 0;
    return std::clamp(std::ilogb(largest), -largest_exponent<T>, largest_exponent<T>);
}

template int exponent_of(const vector<double>&, bool&);
template int exponent_of(const vector<float>&, bool&);

} // namespace krylith
