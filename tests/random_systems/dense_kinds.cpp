// Dense matrices: with a given spectrum, by Householder reflections, or by a formula.
#include <algorithm>
#include <cmath>

#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

namespace {

using square = std::vector<std::vector<double>>;

square zeros(int n) {
    const auto size = static_cast<std::size_t>(n);
    return square(size, std::vector<double>(size, 0.0));
}

/// Applies I - 2 v v' / v'v from the left, and from the right where asked for.
void reflect(square& a, const std::vector<double>& v, bool both) {
    double vv = 0;
    for (const double value : v) vv += value * value;
    if (vv == 0) return;
    const std::size_t n = v.size();
    for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += v[i] * a[i][j];
        for (std::size_t i = 0; i < n; ++i) a[i][j] -= 2 * sum / vv * v[i];
    }
    if (!both) return;
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += a[i][j] * v[j];
        for (std::size_t j = 0; j < n; ++j) a[i][j] -= 2 * sum / vv * v[j];
    }
}

linear_system system_of(const square& a) {
    linear_system s(static_cast<int>(a.size()));
    for (int i = 0; i < s.size(); ++i)
        for (int j = 0; j < s.size(); ++j)
            s.add(i, j, a[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
    return s;
}

/// Makes Q D Q', exactly symmetric.
linear_system with_spectrum(random_source& random, const std::vector<double>& eigenvalues) {
    const auto n = static_cast<int>(eigenvalues.size());
    square a = zeros(n);
    for (std::size_t i = 0; i < eigenvalues.size(); ++i) a[i][i] = eigenvalues[i];
    for (int k = 0; k < 2; ++k) reflect(a, random_vector(random, n), true);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) a[i][j] = a[j][i];
    return system_of(a);
}

linear_system spd(random_source& random, int n, const number_range&) {
    const double condition = random.between(0, 18);
    std::vector<double> spectrum;
    for (int i = 0; i < n; ++i)
        spectrum.push_back(std::pow(10.0, -condition * i / std::max(1, n - 1)));
    return with_spectrum(random, spectrum);
}

/// CG's worst case: one eigenvalue far below all others.
linear_system spd_outlier(random_source& random, int n, const number_range&) {
    std::vector<double> spectrum(static_cast<std::size_t>(n), 1.0);
    spectrum.front() = random.decade(-18, 0);
    return with_spectrum(random, spectrum);
}

linear_system indefinite(random_source& random, int n, const number_range&) {
    std::vector<double> spectrum;
    for (int i = 0; i < n; ++i) spectrum.push_back(random.sign() * random.decade(-6, 0));
    return with_spectrum(random, spectrum);
}

linear_system negative_definite(random_source& random, int n, const number_range&) {
    std::vector<double> spectrum;
    for (int i = 0; i < n; ++i) spectrum.push_back(-random.decade(-3, 0));
    return with_spectrum(random, spectrum);
}

linear_system singular_consistent(random_source& random, int n, const number_range&) {
    std::vector<double> spectrum;
    for (int i = 0; i < n; ++i) spectrum.push_back(random.once_in(3) ? 0 : random.decade(-2, 0));
    linear_system s = with_spectrum(random, spectrum);
    s.rhs = product(s, random_vector(random, n));
    return s;
}

linear_system singular_inconsistent(random_source& random, int n, const number_range&) {
    std::vector<double> spectrum;
    for (int i = 0; i < n; ++i) spectrum.push_back(i == 0 ? 0 : random.decade(-2, 0));
    linear_system s = with_spectrum(random, spectrum);
    s.rhs = random_vector(random, n);
    return s;
}

linear_system orthogonal(random_source& random, int n, const number_range&) {
    square a = zeros(n);
    for (std::size_t i = 0; i < a.size(); ++i) a[i][i] = 1;
    for (int k = 0; k < 3; ++k) reflect(a, random_vector(random, n), false);
    return system_of(a);
}

linear_system skew(random_source& random, int n, const number_range&) {
    square a = zeros(n);
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            a[i][j] = random.symmetric();
            a[j][i] = -a[i][j];
        }
    return system_of(a);
}

linear_system hilbert(random_source&, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) s.add(i, j, 1.0 / (i + j + 1));
    return s;
}

linear_system dense_random(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) s.add(i, j, random.symmetric());
    return s;
}

linear_system vandermonde(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        const double x = random.symmetric();
        for (int j = 0; j < n; ++j) s.add(i, j, std::pow(x, j));
    }
    return s;
}

/// A matrix of rank one and a little more.
linear_system low_rank(random_source& random, int n, const number_range&) {
    const auto u = random_vector(random, n), v = random_vector(random, n);
    const double shift = random.pick({0.0, 1e-16, 1e-8, 1.0});
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            s.add(i, j,
                  u[static_cast<std::size_t>(i)] * v[static_cast<std::size_t>(j)] +
                      (i == j ? shift : 0));
    return s;
}

} // namespace

std::span<const kind> dense_kinds() {
    static constexpr kind kinds[] = {
        {"spd", 40, spd},
        {"spd-outlier", 40, spd_outlier},
        {"indefinite", 40, indefinite},
        {"negative-definite", 30, negative_definite},
        {"singular-consistent", 30, singular_consistent},
        {"singular-inconsistent", 30, singular_inconsistent},
        {"orthogonal", 30, orthogonal},
        {"skew", 30, skew},
        {"hilbert", 30, hilbert},
        {"dense-random", 40, dense_random},
        {"vandermonde", 30, vandermonde},
        {"low-rank", 30, low_rank},
    };
    return kinds;
}

} // namespace random_systems
