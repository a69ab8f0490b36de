// Diffusion through materials that differ by orders of magnitude.
#include <krylith/matrix/gallery/diffusion.hpp>

#include <krylith/matrix/gallery/argument_check.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/matrix/gallery/stencil_rules.hpp>

namespace krylith {
namespace {

/// The coefficient by cell, and what follows from it.
class two_materials {
public:
    two_materials(double kappa, std::int64_t block, std::optional<std::uint64_t> seed)
        : kappa_(kappa), between_(2 * kappa / (1 + kappa)), block_(block), seed_(seed) {}

    /// Returns whether a cell has the second material.
    [[nodiscard]] bool second(const grid_point& cell) const {
        const auto x = static_cast<std::uint64_t>(cell.x / block_);
        const auto y = static_cast<std::uint64_t>(cell.y / block_);
        const auto z = static_cast<std::uint64_t>(cell.z / block_);
        // An axis has at most 1290 blocks: 11 bits hold one.
        return ((seed_ ? counter_hash(*seed_, (z << 11 | y) << 11 | x) : x + y + z) & 1) != 0;
    }

    [[nodiscard]] double of(bool second) const { return second ? kappa_ : 1; }
    /// The harmonic mean of two cells' coefficients.
    [[nodiscard]] double mean(bool one, bool other) const {
        return one == other ? of(one) : between_;
    }

private:
    double kappa_;
    double between_;
    std::int64_t block_;
    std::optional<std::uint64_t> seed_;
};

} // namespace

template <class T>
csr_matrix<T> jump_diffusion(std::int64_t n, double kappa, std::int64_t block,
                             std::optional<std::uint64_t> seed) {
    const grid g = checked_grid("jump_diffusion", {n, n, n});
    check_argument("jump_diffusion", "kappa", kappa, 1e-30, 1e30);
    check_argument<std::int64_t>("jump_diffusion", "block", block, 1, n);
    const two_materials materials(kappa, block, seed);
    const auto length = [=](std::int64_t row) { return star_length(g, g.point(row)); };
    const auto fill = [=](std::int64_t row, std::int32_t* columns, T* values) {
        const grid_point p = g.point(row);
        const bool here = materials.second(p);
        double sum = 0;
        const auto put = [&](const grid_point& q) {
            if (q.x < 0 || q.x >= n || q.y < 0 || q.y >= n || q.z < 0 || q.z >= n) {
                sum += 2 * materials.of(here); // the surface is half a cell away
                return;
            }
            const double through = materials.mean(here, materials.second(q));
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

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> jump_diffusion(std::int64_t, double, std::int64_t,                      \
                                          std::optional<std::uint64_t>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
