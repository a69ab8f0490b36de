#include <krylith/precond/polynomial/chebyshev_polynomial.hpp>

#include <cmath>
#include <cstddef>
#include <numbers>

namespace krylith {

namespace {

/// T_degree(x) for any x > -1.
double chebyshev_t(int degree, double x) {
    return x > 1 ? std::cosh(degree * std::acosh(x)) : std::cos(degree * std::acos(x));
}

/// W_degree(x) / W_degree(1) for -1 <= x < 1.
double chebyshev_w(int degree, double x) {
    const double angle = std::acos(x);
    return std::sin((degree + 0.5) * angle) / std::sin(0.5 * angle) / (2 * degree + 1);
}

} // namespace

double chebyshev_series::operator()(double t) const {
    const double x = (center - t) / radius;
    double sum = 0;
    double before = 0; // T_(j - 1), and T_j
    double now = 1;
    for (std::size_t j = 0; j < coefficients.size(); ++j) {
        sum += coefficients[j] * now;
        const double next = j == 0 ? x : 2 * x * now - before;
        before = now;
        now = next;
    }
    return sum;
}

chebyshev_series make_chebyshev_series(chebyshev_kind kind, int degree, double lambda,
                                       double ratio) {
    const double least = kind == chebyshev_kind::first ? lambda / ratio : 0;
    chebyshev_series p;
    p.center = (lambda + least) / 2;
    p.radius = (lambda - least) / 2;
    const auto residual = [&](double t) {
        return kind == chebyshev_kind::first ? chebyshev_t(degree, (p.center - t) / p.radius) /
                                                   chebyshev_t(degree, p.center / p.radius)
                                             : chebyshev_w(degree, 1 - 2 * t / lambda);
    };
    // A polynomial of degree D - 1 is its own interpolation at D Chebyshev points.
    std::vector<double> values;
    const auto angle = [&](int i) { return std::numbers::pi * (i + 0.5) / degree; };
    for (int i = 0; i < degree; ++i) {
        const double t = p.center - p.radius * std::cos(angle(i));
        values.push_back((1 - residual(t)) / t);
    }
    for (int j = 0; j < degree; ++j) {
        double sum = 0;
        for (int i = 0; i < degree; ++i)
            sum += values[static_cast<std::size_t>(i)] * std::cos(j * angle(i));
        p.coefficients.push_back(sum * (j == 0 ? 1 : 2) / degree);
    }
    return p;
}

} // namespace krylith
