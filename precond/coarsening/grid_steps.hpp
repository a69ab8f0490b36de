// Steps of matrices whose rows may be the points of a grid.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::aggregation {

/// What some row says about a grid whose points all rows may be.
struct grid_facts {
    static constexpr std::uint32_t uncoupled = 1;  ///< << axis
    static constexpr std::uint32_t coupled = 8;    ///< << axis
    static constexpr std::uint32_t no_corner = 64; ///< it is not coupled with a corner around it
    static constexpr std::uint32_t other = 128;    ///< it has an entry of no point around it
    static constexpr std::uint32_t oblique = 256;  ///< it has an entry of a point along two axes
    static constexpr std::uint32_t gap = 512;      ///< it is not coupled with a point around it
    static constexpr std::size_t count = 10;
};

/// The step from a point of a grid to another, by the difference of their numbers and without a
/// division: there are at least 3 points along x, and 3 lines in a plane.
struct grid_step_to {
    int along[3];
    bool there; ///< it is one step at most along each axis

    KRYLITH_HD grid_step_to(const grid_shape& grid, const grid_point& at, std::int32_t apart) {
        const auto line = static_cast<std::int32_t>(grid.x);
        const auto plane = static_cast<std::int32_t>(grid.x * grid.y);
        along[2] = sign(apart, plane / 2);
        const std::int32_t in_plane = apart - along[2] * plane;
        along[1] = sign(in_plane, line / 2);
        const std::int32_t in_line = in_plane - along[1] * line;
        along[0] = sign(in_line, 0);
        there = in_line == along[0] && has(at.x, along[0], grid.x) && has(at.y, along[1], grid.y) &&
                has(at.z, along[2], grid.z);
    }

private:
    [[nodiscard]] KRYLITH_HD static int sign(std::int32_t apart, std::int32_t beyond) {
        return (apart > beyond ? 1 : 0) - (apart < -beyond ? 1 : 0);
    }
    [[nodiscard]] KRYLITH_HD static bool has(std::uint32_t at, int step, std::uint32_t points) {
        return at + static_cast<std::uint32_t>(step) < points; // below 0 it is huge
    }
};

/// Looks at the entries of rows as at points. A row is coupled along an axis where it is coupled
/// with all points next to it there, with each by at least 2/5 of its largest coupling along any
/// axis; that is 3/256 at least, since couplings are whole numbers. Corners are the points that are
/// a step away along all three axes. Points around one are at most a step away along each.
struct grid_step {
    static constexpr std::uint32_t least_coupling = 3;

    rank_rows a;
    grid_shape grid;
    std::uint32_t* facts; ///< [grid_facts::count] becomes 1 where a row says so

    using part_type = std::uint32_t;
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD std::uint32_t part(std::int64_t row, int lane, int) const {
        if (lane != 0) return 0;
        const std::int32_t own = a.columns.global(a.own(row));
        const grid_point at = grid.point_of(own);
        std::uint32_t least[3] = {255, 255, 255};
        std::uint32_t most = 0;
        int next[3] = {0, 0, 0};
        int corners = 0;
        int around = 0;
        std::uint32_t found = 0;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
            const grid_step_to to(grid, at, a.columns.global(a.indices[k]) - own);
            if (!to.there) {
                found |= grid_facts::other | grid_facts::oblique;
                continue;
            }
            const int x = to.along[0] != 0 ? 1 : 0;
            const int y = to.along[1] != 0 ? 1 : 0;
            const int z = to.along[2] != 0 ? 1 : 0;
            const std::uint32_t coupling = is_strong(a.couplings[k]) ? a.couplings[k] : 0;
            if (x + y + z > 1) found |= grid_facts::oblique;
            if (x + y + z == 3 && coupling != 0) ++corners;
            if (x + y + z != 0 && coupling != 0) ++around;
            if (x + y + z != 1) continue;
            const int axis = x != 0 ? 0 : y != 0 ? 1 : 2;
            ++next[axis];
            if (coupling < least[axis]) least[axis] = coupling;
            if (coupling > most) most = coupling;
        }
        const int wanted[3] = {neighbours(at.x, grid.x), neighbours(at.y, grid.y),
                               neighbours(at.z, grid.z)};
        if (corners != wanted[0] * wanted[1] * wanted[2]) found |= grid_facts::no_corner;
        if (around + 1 != (wanted[0] + 1) * (wanted[1] + 1) * (wanted[2] + 1))
            found |= grid_facts::gap;
        for (int axis = 0; axis < 3; ++axis) {
            const bool coupled =
                next[axis] == wanted[axis] && most >= least_coupling && 5 * least[axis] >= 2 * most;
            if (wanted[axis] != 0 || next[axis] != 0)
                found |= (coupled ? grid_facts::coupled : grid_facts::uncoupled) << axis;
        }
        return found;
    }
    KRYLITH_HD static std::uint32_t join(std::uint32_t one, std::uint32_t other) {
        return one | other;
    }
    KRYLITH_HD bool finish(std::int64_t, std::uint32_t found) const {
        for (int bit = 0; found != 0; ++bit, found >>= 1)
            if ((found & 1) != 0 && load_shared(facts + bit) == 0)
                raise_shared(facts + bit, std::uint32_t{1});
        return false;
    }

private:
    /// How many points are next to one along an axis of so many.
    [[nodiscard]] KRYLITH_HD static int neighbours(std::uint32_t at, std::uint32_t points) {
        return (at > 0 ? 1 : 0) + (at + 1 < points ? 1 : 0);
    }
};

/// Writes the number of the box in which a point lies.
struct box_step : writes_only {
    column_numbers columns;
    grid_boxes boxes;
    std::int32_t* box; ///< [local columns]

    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    KRYLITH_HD bool finish(std::int64_t column, std::uint32_t) const {
        box[column] = boxes.box_of(columns.global(static_cast<std::int32_t>(column)));
        return false;
    }
};

} // namespace krylith::aggregation
