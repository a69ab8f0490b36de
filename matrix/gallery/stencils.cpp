// Laplacians and convection-diffusion on a grid.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/grid.hpp>
#include <krylith/matrix/row_builder.hpp>

namespace krylith {
namespace {

/// Coefficients of a point, of its lower neighbours (x - 1, y - 1, z - 1) and its upper ones.
struct star {
    double centre;
    double lower;
    double upper;
};

/// The points of a grid and their neighbours along the axes.
template <class T>
csr_matrix<T> star_stencil(const grid& g, const star& s, std::optional<random_scaling> scaling) {
    const entry_scaling factor(scaling);
    const auto length = [=](std::int64_t row) {
        const grid_point p = g.point(row);
        return 1 + std::int64_t{p.x > 0} + std::int64_t{p.x + 1 < g.nx} + std::int64_t{p.y > 0} +
               std::int64_t{p.y + 1 < g.ny} + std::int64_t{p.z > 0} + std::int64_t{p.z + 1 < g.nz};
    };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const grid_point p = g.point(row);
        const auto put = [&](bool inside, std::int64_t column, double coefficient) {
            if (inside) {
                *columns++ = static_cast<std::int32_t>(column);
                *values++ = static_cast<T>(coefficient * factor(row, column));
            }
        };
        const std::int64_t plane = g.nx * g.ny;
        put(p.z > 0, row - plane, s.lower);
        put(p.y > 0, row - g.nx, s.lower);
        put(p.x > 0, row - 1, s.lower);
        put(true, row, s.centre);
        put(p.x + 1 < g.nx, row + 1, s.upper);
        put(p.y + 1 < g.ny, row + g.nx, s.upper);
        put(p.z + 1 < g.nz, row + plane, s.upper);
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

} // namespace

template <class T>
csr_matrix<T> poisson2d(std::int64_t nx, std::int64_t ny, std::optional<random_scaling> scaling) {
    return star_stencil<T>(checked_grid("poisson2d", {nx, ny, 1}), {4, -1, -1}, scaling);
}

template <class T>
csr_matrix<T> poisson3d(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                        std::optional<random_scaling> scaling) {
    return star_stencil<T>(checked_grid("poisson3d", {nx, ny, nz}), {6, -1, -1}, scaling);
}

template <class T>
csr_matrix<T> convection_diffusion(std::int64_t n, double peclet,
                                   std::optional<random_scaling> scaling) {
    if (!std::isfinite(peclet) || peclet < 0) {
        throw usage_error("convection_diffusion: peclet is " + std::to_string(peclet) +
                          ", allowed are finite numbers from 0 on");
    }
    const grid g = checked_grid("convection_diffusion", {n, n, n});
    const double p = peclet / static_cast<double>(n + 1);
    return star_stencil<T>(g, {6 + 3 * p, -(1 + p), -1}, scaling);
}

template <class T>
csr_matrix<T> poisson3d_27point(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                std::optional<random_scaling> scaling) {
    const grid g = checked_grid("poisson3d_27point", {nx, ny, nz});
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
                    const double coefficient = column == row ? 26.0 : -1.0;
                    *columns++ = static_cast<std::int32_t>(column);
                    *values++ = static_cast<T>(coefficient * factor(row, column));
                }
            }
        }
    };
    return build_by_rows<T>(g.points(), g.points(), length, fill);
}

template csr_matrix<double> poisson2d(std::int64_t, std::int64_t, std::optional<random_scaling>);
template csr_matrix<float> poisson2d(std::int64_t, std::int64_t, std::optional<random_scaling>);
template csr_matrix<double> poisson3d(std::int64_t, std::int64_t, std::int64_t,
                                      std::optional<random_scaling>);
template csr_matrix<float> poisson3d(std::int64_t, std::int64_t, std::int64_t,
                                     std::optional<random_scaling>);
template csr_matrix<double> poisson3d_27point(std::int64_t, std::int64_t, std::int64_t,
                                              std::optional<random_scaling>);
template csr_matrix<float> poisson3d_27point(std::int64_t, std::int64_t, std::int64_t,
                                             std::optional<random_scaling>);
template csr_matrix<double> convection_diffusion(std::int64_t, double,
                                                 std::optional<random_scaling>);
template csr_matrix<float> convection_diffusion(std::int64_t, double,
                                                std::optional<random_scaling>);

} // namespace krylith
