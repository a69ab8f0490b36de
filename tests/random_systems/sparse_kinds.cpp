// Sparse matrices: grids, bands, blocks, random patterns.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <krylith/tests/random_systems/linear_system.hpp>

namespace random_systems {

namespace {

/// A matrix whose diagonals d have the value values[d - first].
linear_system banded(int n, int first, const std::vector<double>& values) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (std::size_t k = 0; k < values.size(); ++k) {
            const int j = i + first + static_cast<int>(k);
            if (j >= 0 && j < n) s.add(i, j, values[k]);
        }
    return s;
}

linear_system tridiagonal(random_source& random, int n, const number_range&) {
    const double d = random.pick({2.0, 2.5, 1.0, 0.0});
    return banded(n, -1, {-1, d, -1});
}

linear_system bidiagonal(random_source& random, int n, const number_range&) {
    return banded(n, 0, {1, random.between(-3, 3)});
}

linear_system grcar(random_source&, int n, const number_range&) {
    return banded(n, -1, {-1, 1, 1, 1, 1});
}

linear_system toeplitz(random_source& random, int n, const number_range&) {
    std::vector<double> values;
    for (int k = random.integer(2, 6); k >= 0; --k) values.push_back(random.symmetric());
    return banded(n, -static_cast<int>(values.size()) / 2, values);
}

linear_system convection(random_source& random, int n, const number_range&) {
    const double peclet = random.sign() * random.decade(-2, 4);
    return banded(n, -1, {-1 - peclet, 2, -1 + peclet});
}

linear_system grid(random_source& random, int n, const number_range&) {
    const int side = std::max(1, static_cast<int>(std::sqrt(n)));
    const double wind = random.pick({0.0, 0.5, 10.0});
    const double centre = random.pick({4.0, 4.0, 1.0, -1.0}); // the last two: Helmholtz
    linear_system s(side * side);
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const int i = y * side + x;
            if (y > 0) s.add(i, i - side, -1);
            if (x > 0) s.add(i, i - 1, -1 - wind);
            s.add(i, i, centre);
            if (x + 1 < side) s.add(i, i + 1, -1 + wind);
            if (y + 1 < side) s.add(i, i + side, -1);
        }
    return s;
}

/// A singular system with constants as its kernel, consistent or not.
linear_system neumann(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        if (i > 0) s.add(i, i - 1, -1);
        s.add(i, i, (i > 0 ? 1 : 0) + (i + 1 < n ? 1 : 0));
        if (i + 1 < n) s.add(i, i + 1, -1);
    }
    const auto x = random_vector(random, n);
    s.rhs = random.once_in(2) ? product(s, x) : x;
    return s;
}

linear_system companion(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 1; i < n; ++i) s.add(i - 1, i, 1);
    for (int j = 0; j < n; ++j) s.add(n - 1, j, random.symmetric());
    return s;
}

linear_system saddle_point(random_source& random, int n, const number_range&) {
    const int upper = std::max(1, 2 * n / 3);
    linear_system s(n);
    for (int i = 0; i < upper; ++i) s.add(i, i, random.between(0.5, 2));
    for (int i = upper; i < n; ++i)
        for (int k = 0; k < 2; ++k) {
            const int j = random.integer(0, upper - 1);
            const double value = random.symmetric();
            s.add(i, j, value);
            s.add(j, i, value);
        }
    return s;
}

linear_system one_dense_row(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const int dense = random.integer(0, n - 1);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (i == dense || i == j) s.add(i, j, i == j ? 2 : random.symmetric());
    return s;
}

linear_system arrow(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const double tip = random.pick({1.0, 0.0, 1e8, static_cast<double>(n)});
    for (int i = 0; i < n; ++i) {
        if (i > 0) s.add(i, 0, 1);
        s.add(i, i, i == 0 ? tip : 1);
    }
    for (int j = 1; j < n; ++j) s.add(0, j, 1);
    return s;
}

linear_system blocks(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int begin = 0; begin < n;) {
        const int end = std::min(n, begin + random.integer(1, 5));
        const double scale = random.decade(-3, 3);
        for (int i = begin; i < end; ++i)
            for (int j = begin; j < end; ++j)
                s.add(i, j, scale * (random.symmetric() + (i == j ? 3 : 0)));
        begin = end;
    }
    return s;
}

/// Blocks r (cos, sin; -sin, cos): a complex spectrum, at |angle| = 90 degrees BiCGStab's worst
/// case.
linear_system rotations(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i + 1 < n; i += 2) {
        const double angle = random.pick({1.5707963267948966, random.between(0, 3.14)});
        const double radius = random.between(0.1, 2);
        s.add(i, i, radius * std::cos(angle));
        s.add(i, i + 1, radius * std::sin(angle));
        s.add(i + 1, i, -radius * std::sin(angle));
        s.add(i + 1, i + 1, radius * std::cos(angle));
    }
    if (n % 2 == 1) s.add(n - 1, n - 1, 1);
    return s;
}

std::vector<int> shuffled(random_source& random, int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int i = n - 1; i > 0; --i)
        std::swap(order[static_cast<std::size_t>(i)],
                  order[static_cast<std::size_t>(random.integer(0, i))]);
    return order;
}

linear_system permutation(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const auto order = shuffled(random, n);
    for (int i = 0; i < n; ++i) s.add(i, order[static_cast<std::size_t>(i)], random.sign());
    return s;
}

/// A system where GMRES gains nothing before step n.
linear_system cyclic_shift(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) s.add(i, (i + 1) % n, 1);
    s.rhs.assign(static_cast<std::size_t>(n), 0.0);
    s.rhs[static_cast<std::size_t>(random.integer(0, n - 1))] = 1;
    return s;
}

linear_system random_sparse(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const double dominance = random.pick({0.0, 0.5, 5.0});
    for (int i = 0; i < n; ++i) {
        std::vector<double> row(static_cast<std::size_t>(n), 0.0);
        for (int k = random.integer(1, 6); k > 0; --k)
            row[static_cast<std::size_t>(random.integer(0, n - 1))] = random.symmetric();
        row[static_cast<std::size_t>(i)] += dominance;
        for (int j = 0; j < n; ++j)
            if (row[static_cast<std::size_t>(j)] != 0)
                s.add(i, j, row[static_cast<std::size_t>(j)]);
    }
    return s;
}

/// A symmetric M-matrix of a random graph, with or without a shift that makes it definite.
linear_system graph_laplacian(random_source& random, int n, const number_range&) {
    const double shift = random.pick({0.0, 1e-10, 1.0});
    linear_system s(n);
    std::vector<double> degrees(static_cast<std::size_t>(n), shift);
    for (int i = 1; i < n; ++i) {
        const int j = random.integer(0, i - 1);
        const double weight = random.decade(-2, 2);
        s.add(i, j, -weight);
        s.add(j, i, -weight);
        degrees[static_cast<std::size_t>(i)] += weight;
        degrees[static_cast<std::size_t>(j)] += weight;
    }
    for (int i = 0; i < n; ++i) s.add(i, i, degrees[static_cast<std::size_t>(i)]);
    return s;
}

/// Resistors and controlled sources of which nothing is grounded: rows add up to 0 but for their
/// rounding, which makes x as large as b is far from the range.
linear_system floating_circuit(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = random.integer(1, 3); k > 0; --k) {
            const int j = random.integer(0, n - 1);
            const double value = random.once_in(4) ? random.symmetric() : -random.decade(-2, 1);
            if (j == i) continue;
            s.add(i, j, value);
            sum += value;
        }
        s.add(i, i, -sum * (1 + random.integer(-2, 2) * 0x1p-52));
    }
    return s;
}

/// Rows that are multiples of one another but for their last digits.
linear_system nearly_dependent(random_source& random, int n, const number_range&) {
    linear_system s(n);
    const std::vector<double> row = random_vector(random, n);
    const int alike = random.integer(2, std::max(2, n));
    for (int i = 0; i < n; ++i) {
        const double multiple = random.sign() * random.between(0.5, 2);
        for (int j = 0; j < n; ++j)
            s.add(i, j,
                  i < alike ? multiple * row[static_cast<std::size_t>(j)] : random.symmetric());
    }
    return s;
}

/// Rows with repeated columns that descend and sum up, each summand of another power of two.
linear_system split_entries(random_source& random, int n, const number_range&) {
    linear_system s(n);
    for (int i = 0; i < n; ++i)
        for (int j = std::min(n - 1, i + 1); j >= std::max(0, i - 1); --j)
            for (int k = random.integer(1, 3); k > 0; --k)
                s.add(i, j, (i == j ? 4 : random.symmetric()) * std::ldexp(1.0, -k));
    return s;
}

} // namespace

std::span<const kind> sparse_kinds() {
    static constexpr kind kinds[] = {
        {"tridiagonal", 200, tridiagonal},
        {"bidiagonal", 200, bidiagonal},
        {"grcar", 200, grcar},
        {"toeplitz", 200, toeplitz},
        {"convection", 200, convection},
        {"grid", 200, grid},
        {"neumann", 200, neumann},
        {"companion", 100, companion},
        {"saddle-point", 150, saddle_point},
        {"one-dense-row", 200, one_dense_row},
        {"arrow", 200, arrow},
        {"blocks", 200, blocks},
        {"rotations", 200, rotations},
        {"permutation", 200, permutation},
        {"cyclic-shift", 100, cyclic_shift},
        {"random-sparse", 200, random_sparse},
        {"graph-laplacian", 200, graph_laplacian},
        {"split-entries", 200, split_entries},
        {"floating-circuit", 12, floating_circuit},
        {"nearly-dependent", 8, nearly_dependent},
    };
    return kinds;
}

} // namespace random_systems
