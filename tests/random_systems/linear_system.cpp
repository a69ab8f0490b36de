#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

const std::vector<kind>& all_kinds() {
    static const std::vector<kind> all = [] {
        std::vector<kind> joined;
        for (const auto part : {dense_kinds(), sparse_kinds(), extreme_kinds()})
            joined.insert(joined.end(), part.begin(), part.end());
        return joined;
    }();
    return all;
}

std::vector<double> product(const linear_system& a, const std::vector<double>& x) {
    std::vector<double> y;
    for (const auto& row : a.rows) {
        double sum = 0;
        for (const entry& e : row) sum += e.value * x[static_cast<std::size_t>(e.column)];
        y.push_back(sum);
    }
    return y;
}

std::vector<double> random_vector(random_source& random, int size) {
    std::vector<double> v(static_cast<std::size_t>(size));
    for (double& value : v) value = random.symmetric();
    return v;
}

} // namespace random_systems
