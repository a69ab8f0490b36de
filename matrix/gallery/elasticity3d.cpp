// A clamped elastic beam.
#include <krylith/matrix/gallery/systems.hpp>

#include <array>
#include <cstddef>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/linear_elements.hpp>
#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {
namespace {

constexpr std::size_t axes = 3;

/// The four integrals of the hat functions of a node p and its neighbour q along one axis.
struct axis_integrals {
    double mass, stiffness, slope_p, slope_q; ///< of p q, p' q', p' q, p q'

    axis_integrals() = default;
    axis_integrals(std::int64_t last, std::int64_t p, std::int64_t q) {
        const linear_elements line{last};
        mass = line.mass(p, q);
        stiffness = line.stiffness(p, q);
        slope_p = line.slope(p, q);
        slope_q = line.slope(q, p);
    }
};

constexpr std::int64_t unknowns = 3; // a node

using pair_integrals = std::array<axis_integrals, axes>;

/// Lame's constants.
struct material {
    double lambda;
    double mu;

    /// The energy between displacement i of p and j of q: with D_i for the derivative by axis i,
    /// the integral of lambda D_i p D_j q + mu D_j p D_i q, and, for i = j, of mu grad p . grad q.
    /// It has the same bits for p, i and q, j swapped.
    [[nodiscard]] double entry(const pair_integrals& pair, std::size_t i, std::size_t j) const {
        const axis_integrals& a = pair[i];
        if (i == j) {
            const axis_integrals& b = pair[(i + 1) % axes];
            const axis_integrals& c = pair[(i + 2) % axes];
            return (lambda + 2 * mu) * (a.stiffness * b.mass * c.mass) +
                   mu * (a.mass * (b.stiffness * c.mass + b.mass * c.stiffness));
        }
        const axis_integrals& b = pair[j];
        return pair[3 - i - j].mass *
               (lambda * (a.slope_p * b.slope_q) + mu * (b.slope_p * a.slope_q));
    }
};

/// The grid of the nodes that are free, without the clamped ones at x = 0.
grid free_nodes(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    const auto allowed = [](std::int64_t n) { return n >= 1 && n < index_limit; };
    if (!allowed(nx) || !allowed(ny) || !allowed(nz) || ny + 1 > index_limit / 3 / nx ||
        nz + 1 > index_limit / 3 / nx / (ny + 1)) {
        throw usage_error("elasticity3d: the beam is " + std::to_string(nx) + " x " +
                          std::to_string(ny) + " x " + std::to_string(nz) +
                          " elements, allowed are sizes from 1 on with at most " +
                          std::to_string(index_limit) + " rows, 3 nx (ny + 1) (nz + 1)");
    }
    return {nx, ny + 1, nz + 1};
}

} // namespace

template <class T>
csr_matrix<T> elasticity3d(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                           double poisson_ratio) {
    const grid g = free_nodes(nx, ny, nz);
    check_argument("elasticity3d", "poisson_ratio", poisson_ratio, 0.0, 0.4999);
    const material m{poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio)),
                     1 / (2 * (1 + poisson_ratio))};
    const auto length = [=](std::int64_t row) {
        const grid_point p = g.point(row / unknowns);
        return unknowns * reach(p.x, g.nx).length() * reach(p.y, g.ny).length() *
               reach(p.z, g.nz).length();
    };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const auto i = static_cast<std::size_t>(row % unknowns);
        const grid_point p = g.point(row / unknowns);
        const reach xs(p.x, g.nx);
        const reach ys(p.y, g.ny);
        const reach zs(p.z, g.nz);
        pair_integrals pair;
        for (std::int64_t z = zs.first; z <= zs.last; ++z) {
            pair[2] = {nz, p.z, z};
            for (std::int64_t y = ys.first; y <= ys.last; ++y) {
                pair[1] = {ny, p.y, y};
                for (std::int64_t x = xs.first; x <= xs.last; ++x) {
                    pair[0] = {nx, p.x + 1, x + 1}; // node 0 is clamped
                    for (std::size_t j = 0; j < axes; ++j) {
                        *columns++ = static_cast<std::int32_t>(
                            ((z * g.ny + y) * g.nx + x) * unknowns + static_cast<std::int64_t>(j));
                        *values++ = static_cast<T>(m.entry(pair, i, j));
                    }
                }
            }
        }
    };
    return build_by_rows<T>(unknowns * g.points(), unknowns * g.points(), length, fill);
}

node_coordinates elasticity3d_coordinates(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    const grid g = free_nodes(nx, ny, nz);
    node_coordinates result{static_cast<int>(axes), {}};
    result.values.reserve(static_cast<std::size_t>(unknowns * g.points()));
    for (std::int64_t node = 0; node < g.points(); ++node) {
        const grid_point p = g.point(node);
        for (const std::int64_t x : {p.x + 1, p.y, p.z}) // nodes at x = 0 are clamped
            result.values.push_back(static_cast<double>(x));
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> elasticity3d(std::int64_t, std::int64_t, std::int64_t, double);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
