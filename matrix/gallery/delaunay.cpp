// A triangulated grid of shaken points.
#include <krylith/matrix/gallery/graphs.hpp>

#include <array>

#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/grid.hpp>
#include <krylith/matrix/gallery/neighbours.hpp>
#include <krylith/matrix/gallery/undirected.hpp>

namespace krylith {
namespace {

struct shaken_grid {
    grid points;
    std::uint64_t seed;

    /// A place relative to the lower left corner of a quadrangle, in units of 1/4096 of its width.
    struct place {
        std::int64_t x;
        std::int64_t y;
    };

    /// The point (x + right, y + up), seen from (x, y); it is at most 819/4096 off its grid point.
    [[nodiscard]] place seen(std::int64_t x, std::int64_t y, std::int64_t right,
                             std::int64_t up) const {
        const std::uint64_t random =
            counter_hash(seed, static_cast<std::uint64_t>((y + up) * points.nx + x + right));
        constexpr std::int64_t width = 4096;
        constexpr std::int64_t most = 819;
        const auto shake = [](std::uint64_t bits) { return below(2 * most + 1, bits) - most; };
        return {right * width + shake(random), up * width + shake(random << 32)};
    }

    /// Whether the diagonal from (x, y) to (x + 1, y + 1) cuts that quadrangle: the circle through
    /// its ends and (x + 1, y) doesn't hold (x, y + 1). 55 bits hold the determinant.
    [[nodiscard]] bool rising(std::int64_t x, std::int64_t y) const {
        const place d = seen(x, y, 0, 1);
        const auto row = [&](const place& p) {
            const std::int64_t dx = p.x - d.x;
            const std::int64_t dy = p.y - d.y;
            return std::array{dx, dy, dx * dx + dy * dy};
        };
        const auto a = row(seen(x, y, 0, 0));
        const auto b = row(seen(x, y, 1, 0));
        const auto c = row(seen(x, y, 1, 1));
        return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0]) <=
               0;
    }

    [[nodiscard]] neighbours<8> of(std::int64_t row) const {
        const grid_point p = points.point(row);
        const bool left = p.x > 0;
        const bool right = p.x + 1 < points.nx;
        const bool lower = p.y > 0;
        const bool upper = p.y + 1 < points.ny;
        neighbours<8> found;
        const auto put = [&](bool there, std::int64_t column) {
            if (there) {
                found.add(column);
            }
        };
        put(lower && left && rising(p.x - 1, p.y - 1), row - points.nx - 1);
        put(lower, row - points.nx);
        put(lower && right && !rising(p.x, p.y - 1), row - points.nx + 1);
        put(left, row - 1);
        put(right, row + 1);
        put(upper && left && !rising(p.x - 1, p.y), row + points.nx - 1);
        put(upper, row + points.nx);
        put(upper && right && rising(p.x, p.y), row + points.nx + 1);
        return found;
    }
};

} // namespace

template <class T>
csr_matrix<T> delaunay(std::int64_t nx, std::int64_t ny, std::uint64_t seed) {
    const shaken_grid shaken{checked_grid("delaunay", {nx, ny, 1}), seed};
    return build_undirected<T>(shaken.points.points(), seed,
                               [&](std::int64_t row) { return shaken.of(row); });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> delaunay(std::int64_t, std::int64_t, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
