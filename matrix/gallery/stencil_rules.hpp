// Matrices of stencils: a point of a grid and its neighbours along the axes, or all around it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/gallery/grid.hpp>

namespace krylith {

/// The coefficients of a point, of its lower neighbours (x - 1, y - 1, z - 1) and its upper ones;
/// those to neighbours in z are `along_z` times as large.
struct star {
    double centre;
    double lower;
    double upper;
    double along_z = 1;
};

/// The number of entries of a point's row: itself and its neighbours along the axes.
inline std::int64_t star_length(const grid& g, const grid_point& p) {
    return 1 + std::int64_t{p.x > 0} + std::int64_t{p.x + 1 < g.nx} + std::int64_t{p.y > 0} +
           std::int64_t{p.y + 1 < g.ny} + std::int64_t{p.z > 0} + std::int64_t{p.z + 1 < g.nz};
}

/// The points of a grid and their neighbours along the axes.
template <class T>
csr_matrix<T> star_stencil(const grid& g, const star& s, std::optional<random_scaling> scaling) {
    const entry_scaling factor(scaling);
    const auto length = [=](std::int64_t row) { return star_length(g, g.point(row)); };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const grid_point p = g.point(row);
        const auto put = [&](bool inside, std::int64_t column, double coefficient) {
            if (inside) {
                *columns++ = static_cast<std::int32_t>(column);
                *values++ = static_cast<T>(coefficient * factor(row, column));
            }
        };
        const std::int64_t plane = g.nx * g.ny;
        put(p.z > 0, row - plane, s.lower * s.along_z);
        put(p.y > 0, row - g.nx, s.lower);
        put(p.x > 0, row - 1, s.lower);
        put(true, row, s.centre);
        put(p.x + 1 < g.nx, row + 1, s.upper);
        put(p.y + 1 < g.ny, row + g.nx, s.upper);
        put(p.z + 1 < g.nz, row + plane, s.upper * s.along_z);
    };
    return build_by_rows<T>(g.points(), g.points(), length, fill);
}

/// The positions k - 1, k, k + 1 that are in 0..n-1.
struct reach {
    std::int64_t first;
    std::int64_t last;

    reach(std::int64_t k, std::int64_t n)
        : first(std::max<std::int64_t>(k - 1, 0)), last(std::min(k + 1, n - 1)) {}

    [[nodiscard]] std::int64_t length() const { return last - first + 1; }
};

/// The points of a grid and all around them; coefficient(dx, dy, dz) with differences from -1 to 1.
template <class T, class Coefficient>
csr_matrix<T> box_stencil(const grid& g, const Coefficient& coefficient,
                          std::optional<random_scaling> scaling) {
    const entry_scaling factor(scaling);
    const auto length = [=](std::int64_t row) {
        const grid_point p = g.point(row);
        return reach(p.x, g.nx).length() * reach(p.y, g.ny).length() * reach(p.z, g.nz).length();
    };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const grid_point p = g.point(row);
        const reach xs(p.x, g.nx);
        const reach ys(p.y, g.ny);
        const reach zs(p.z, g.nz);
        for (std::int64_t z = zs.first; z <= zs.last; ++z) {
            for (std::int64_t y = ys.first; y <= ys.last; ++y) {
                for (std::int64_t x = xs.first; x <= xs.last; ++x) {
                    const std::int64_t column = (z * g.ny + y) * g.nx + x;
                    const double value = coefficient(x - p.x, y - p.y, z - p.z);
                    *columns++ = static_cast<std::int32_t>(column);
                    *values++ = static_cast<T>(value * factor(row, column));
                }
            }
        }
    };
    return build_by_rows<T>(g.points(), g.points(), length, fill);
}

} // namespace krylith
