// Matrices without an inverse, at the ends of the number range, or where a method divides by zero.
#include <algorithm>
#include <cmath>

#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

namespace {

linear_system diagonal(const std::vector<double>& values) {
    linear_system s(static_cast<int>(values.size()));
    for (int i = 0; i < s.size(); ++i) s.add(i, i, values[static_cast<std::size_t>(i)]);
    return s;
}

linear_system scaled_identity(random_source& random, int n, const number_range& range) {
    const double value = random.pick({1.0, random.decade(-range.largest, range.largest)});
    return diagonal(std::vector<double>(static_cast<std::size_t>(n), value));
}

linear_system diagonal_spread(random_source& random, int n, const number_range& range) {
    const double decades = random.pick({2.0, 15.0, range.largest});
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(random.decade(-decades, decades));
    return diagonal(values);
}

/// A system with A and b at opposite ends, so that x lies beyond both.
linear_system opposite_ends(random_source& random, int n, const number_range& range) {
    const double sign = random.sign();
    const double at = random.between(0.4, 1) * range.largest;
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(random.between(1, 3) * std::pow(10.0, sign * at));
    linear_system s = diagonal(values);
    s.rhs = random_vector(random, n);
    const double to = random.between(0.4, 1) * range.largest;
    for (double& value : s.rhs) value *= std::pow(10.0, -sign * to);
    return s;
}

linear_system graded(random_source& random, int n, const number_range& range, bool rows) {
    const double decades = random.pick({10.0, range.largest / 2, range.largest - 1});
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            const double at = (rows ? i : j) / std::max(1.0, n - 1.0);
            s.add(i, j, (i == j ? 3 : random.symmetric()) * std::pow(10.0, decades * (2 * at - 1)));
        }
    return s;
}
linear_system graded_rows(random_source& random, int n, const number_range& range) {
    return graded(random, n, range, true);
}
linear_system graded_columns(random_source& random, int n, const number_range& range) {
    return graded(random, n, range, false);
}

linear_system subnormal(random_source& random, int n, const number_range& range) {
    linear_system s(n);
    const bool all = random.once_in(2);
    for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            const bool small = all || random.once_in(3);
            const double scale = small ? random.decade(range.subnormal, -range.largest) : 1;
            s.add(i, j, scale * (i == j ? 3 : random.symmetric()));
        }
    return s;
}

linear_system subnormal_rhs(random_source& random, int n, const number_range& range) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        if (i > 0) s.add(i, i - 1, -1);
        s.add(i, i, random.pick({2.0, 3.0, 1e6}));
        if (i + 1 < n) s.add(i, i + 1, -1);
    }
    for (int i = 0; i < n; ++i)
        s.rhs.push_back(random.sign() * random.decade(range.subnormal, -range.largest));
    return s;
}

linear_system laplacian_with(random_source& random, int n, double size) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        if (i > 0) s.add(i, i - 1, -1);
        s.add(i, i, 2.5);
        if (i + 1 < n) s.add(i, i + 1, -1);
    }
    s.rhs = random_vector(random, n);
    for (double& value : s.rhs) value *= size;
    return s;
}
linear_system huge_rhs(random_source& random, int n, const number_range& range) {
    return laplacian_with(random, n, random.decade(range.largest / 2, range.largest));
}
linear_system tiny_rhs(random_source& random, int n, const number_range& range) {
    return laplacian_with(random, n, random.decade(-range.largest, -range.largest / 2));
}
linear_system zero_rhs(random_source& random, int n, const number_range&) {
    return laplacian_with(random, n, 0);
}

linear_system zero_matrix(random_source& random, int n, const number_range&) {
    linear_system s(n);
    if (random.once_in(2)) // some zeros are stored
        for (int i = 0; i < n; ++i) s.add(i, i, 0);
    return s;
}

linear_system zero_rows(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        if (!random.once_in(4)) {
            s.add(i, i, 2);
            if (i > 0) s.add(i, i - 1, random.symmetric());
        }
    if (random.once_in(2)) s.rhs = product(s, random_vector(random, n));
    return s;
}

linear_system zero_columns(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const int empty = random.integer(0, n - 1);
    for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 2); j <= std::min(n - 1, i + 2); ++j)
            if (j != empty) s.add(i, j, random.symmetric() + (i == j ? 3 : 0));
    if (random.once_in(2)) s.rhs = product(s, random_vector(random, n));
    return s;
}

linear_system nilpotent(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i + 1 < n; ++i) {
        s.add(i, i + 1, 1);
        if (i + 2 < n) s.add(i, i + 2, random.symmetric());
    }
    if (random.once_in(2)) s.rhs = product(s, random_vector(random, n));
    return s;
}

/// A system where p'Ap is nearly 0 in the first step of CG, with b = ones.
linear_system near_cg_breakdown(random_source& random, int n, const number_range&) {
    const double rest = random.pick({0.0, 1e-16, -1e-16, 1e-12, 1e-8});
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? 1 : -1 + rest);
    linear_system s = diagonal(values);
    s.rhs.assign(static_cast<std::size_t>(n), 1.0);
    return s;
}

/// A system where r'A r is nearly 0 for every r: a skew matrix and very little else.
linear_system near_bicgstab_breakdown(random_source& random, int n, const number_range&) {
    const double rest = random.pick({0.0, 1e-300, 1e-20, 1e-16, 1e-10, 1e-5});
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        if (i > 0) s.add(i, i - 1, -1);
        s.add(i, i, rest);
        if (i + 1 < n) s.add(i, i + 1, 1);
    }
    return s;
}

/// A system where b is nearly in an invariant space of few dimensions, or A is nearly the identity.
linear_system near_gmres_breakdown(random_source& random, int n, const number_range&) {
    const double rest = random.pick({0.0, 1e-17, 1e-15, 1e-12, 1e-8});
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
            s.add(i, j, i == j ? 1 + i % 3 : rest * random.symmetric());
    s.rhs.assign(static_cast<std::size_t>(n), 1.0);
    return s;
}

linear_system whole_range(random_source& random, int n, const number_range& range) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k) {
            const int j = k == 0 ? i : random.integer(0, n - 1);
            if (k > 0 && j == i) continue;
            s.add(i, j, random.sign() * random.decade(-range.largest, range.largest));
        }
    for (int i = 0; i < n; ++i)
        s.rhs.push_back(random.sign() * random.decade(-range.largest, range.largest));
    return s;
}

} // namespace

std::span<const kind> extreme_kinds() {
    static constexpr kind kinds[] = {
        {"scaled-identity", 50, scaled_identity},
        {"diagonal-spread", 100, diagonal_spread},
        {"opposite-ends", 20, opposite_ends},
        {"graded-rows", 60, graded_rows},
        {"graded-columns", 60, graded_columns},
        {"subnormal", 40, subnormal},
        {"subnormal-rhs", 40, subnormal_rhs},
        {"huge-rhs", 100, huge_rhs},
        {"tiny-rhs", 100, tiny_rhs},
        {"zero-rhs", 60, zero_rhs},
        {"zero-matrix", 20, zero_matrix},
        {"zero-rows", 60, zero_rows},
        {"zero-columns", 60, zero_columns},
        {"nilpotent", 60, nilpotent},
        {"near-cg-breakdown", 60, near_cg_breakdown},
        {"near-bicgstab-breakdown", 60, near_bicgstab_breakdown},
        {"near-gmres-breakdown", 60, near_gmres_breakdown},
        {"whole-range", 40, whole_range},
    };
    return kinds;
}

} // namespace random_systems
