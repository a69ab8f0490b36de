#include <krylith/solvers/idr/shadow_vectors.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith {

namespace {

constexpr std::uint64_t shadow_seed = 0x1d5;
constexpr std::size_t longest_orthogonal = 10'000;

double dot_of(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

std::vector<double> random_direction(std::size_t n, int k) {
    std::vector<double> p(n);
    for (std::size_t i = 0; i < n; ++i)
        p[i] = 2 * unit_interval(counter_hash(shadow_seed, i, static_cast<std::uint64_t>(k))) - 1;
    return p;
}

} // namespace

template <class T>
basis<T> make_shadow_vectors(int s, const std::function<vector<T>()>& make) {
    basis<T> result(s, make);
    const auto n = static_cast<std::size_t>(result[0].size());
    if (n == 0) return result;
    std::vector<std::vector<double>> before;
    for (int k = 0; k < s; ++k) {
        auto p = random_direction(n, k);
        for (const auto& other : before) {
            const double part = dot_of(p, other);
            for (std::size_t i = 0; i < n; ++i) p[i] -= part * other[i];
        }
        const double length = std::sqrt(dot_of(p, p));
        for (double& value : p) value /= length;
        result[k].upload(std::vector<T>(p.begin(), p.end()));
        if (n <= longest_orthogonal) before.push_back(std::move(p));
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template basis<T> make_shadow_vectors(int, const std::function<vector<T>()>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
