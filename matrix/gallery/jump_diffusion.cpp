// Diffusion through cells whose coefficients differ by orders of magnitude.
#include <krylith/matrix/gallery/diffusion.hpp>

#include <cmath>

#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/edge_weight.hpp>
#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {
namespace {

/// One of two coefficients for each block of cells.
struct two_materials {
    double kappa;
    std::int64_t block;
    std::optional<std::uint64_t> seed;

    [[nodiscard]] double operator()(const grid_point& cell) const {
        const auto x = static_cast<std::uint64_t>(cell.x / block);
        const auto y = static_cast<std::uint64_t>(cell.y / block);
        const auto z = static_cast<std::uint64_t>(cell.z / block);
        // An axis has at most 1290 blocks: 11 bits hold one.
        const std::uint64_t bits = seed ? counter_hash(*seed, (z << 11 | y) << 11 | x) : x + y + z;
        return (bits & 1) != 0 ? kappa : 1;
    }
};

/// A coefficient of its own for each cell, 2^k (1 + u) with k and u uniform.
struct many_materials {
    int octaves; ///< k is less
    std::uint64_t seed;

    [[nodiscard]] double operator()(const grid_point& cell) const {
        const auto at = [&](std::uint64_t which) {
            return counter_hash(
                seed ^ which,
                (static_cast<std::uint64_t>(cell.z) << 11 | static_cast<std::uint64_t>(cell.y))
                        << 11 |
                    static_cast<std::uint64_t>(cell.x));
        };
        return std::ldexp(1 + unit_interval(at(0)), static_cast<int>(below(octaves, at(0x5eed))));
    }
};

/// Finite volumes of n^3 cells, whose coefficients `of` gives.
template <class T, class Coefficient>
csr_matrix<T> diffusion_through_cells(const grid& g, std::int64_t n, const Coefficient& of) {
    const auto length = [=](std::int64_t row) { return star_length(g, g.point(row)); };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const grid_point p = g.point(row);
        const double here = of(p);
        double sum = 0;
        const auto put = [&](const grid_point& q) {
            if (q.x < 0 || q.x >= n || q.y < 0 || q.y >= n || q.z < 0 || q.z >= n) {
                sum += 2 * here; // the surface is half a cell away
                return;
            }
            const double there = of(q);
            const double through = here == there ? here : 2 * here * there / (here + there);
            sum += through;
            *columns++ = static_cast<std::int32_t>((q.z * n + q.y) * n + q.x);
            *values++ = static_cast<T>(-through);
        };
        put({p.x, p.y, p.z - 1});
        put({p.x, p.y - 1, p.z});
        put({p.x - 1, p.y, p.z});
        *columns++ = static_cast<std::int32_t>(row);
        T* const centre = values++;
        put({p.x + 1, p.y, p.z});
        put({p.x, p.y + 1, p.z});
        put({p.x, p.y, p.z + 1});
        *centre = static_cast<T>(sum);
    };
    return build_by_rows<T>(g.points(), g.points(), length, fill);
}

} // namespace

template <class T>
csr_matrix<T> jump_diffusion(std::int64_t n, double kappa, std::int64_t block,
                             std::optional<std::uint64_t> seed) {
    const grid g = checked_grid("jump_diffusion", {n, n, n});
    check_argument("jump_diffusion", "kappa", kappa, 1e-30, 1e30);
    check_argument<std::int64_t>("jump_diffusion", "block", block, 1, n);
    return diffusion_through_cells<T>(g, n, two_materials{kappa, block, seed});
}

template <class T>
csr_matrix<T> rough_diffusion(std::int64_t n, double contrast, std::uint64_t seed) {
    const grid g = checked_grid("rough_diffusion", {n, n, n});
    check_argument("rough_diffusion", "contrast", contrast, 2.0, 1e30);
    return diffusion_through_cells<T>(g, n, many_materials{std::ilogb(contrast), seed});
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> jump_diffusion(std::int64_t, double, std::int64_t,                      \
                                          std::optional<std::uint64_t>);                           \
    template csr_matrix<T> rough_diffusion(std::int64_t, double, std::uint64_t);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
