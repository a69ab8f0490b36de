// The rows of R, the transposed prolongation of boxes of a grid's points, without a transposition:
// a box's row has the points of the box and, with the stencil of the matrix, those around it.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>

namespace krylith::aggregation {

/// The points of a box's row, which are named by their steps from the lowest point of the box. They
/// lie in a block, of which a star has no points that are outside of the box along two axes.
struct restricted_points {
    box_span on[3];
    bool star;

    KRYLITH_HD restricted_points(const grid_boxes& boxes, std::int64_t box)
        : star(boxes.stencil == grid_stencil::star) {
        const grid_point at = boxes.shape().point_of(static_cast<std::int32_t>(box));
        on[0] = boxes.span_of(at.x, 0);
        on[1] = boxes.span_of(at.y, 1);
        on[2] = boxes.span_of(at.z, 2);
    }

    [[nodiscard]] KRYLITH_HD std::int32_t size() const {
        return star ? on[2].inner * plane() + on[2].outer() * on[1].inner * on[0].inner
                    : on[2].size() * on[1].size() * on[0].size();
    }
    [[nodiscard]] KRYLITH_HD bool has(int x, int y, int z) const {
        const bool in_block = on[0].has(x) && on[1].has(y) && on[2].has(z);
        const int outside = (on[0].is_outside(x) ? 1 : 0) + (on[1].is_outside(y) ? 1 : 0) +
                            (on[2].is_outside(z) ? 1 : 0);
        return in_block && (!star || outside <= 1);
    }
    /// How many points of the row come before one of it.
    [[nodiscard]] KRYLITH_HD std::int32_t before(int x, int y, int z) const {
        if (!star)
            return ((z - on[2].first) * on[1].size() + y - on[1].first) * on[0].size() + x -
                   on[0].first;
        const int low_z = -on[2].first * on[1].inner * on[0].inner;
        if (z < 0) return y * on[0].inner + x;
        if (z >= on[2].inner) return low_z + z * plane() + y * on[0].inner + x;
        const int low_y = -on[1].first * on[0].inner;
        const int lines = low_z + z * plane();
        if (y < 0) return lines + x;
        if (y >= on[1].inner) return lines + low_y + y * on[0].size() + x;
        return lines + low_y + y * on[0].size() + x - on[0].first;
    }

private:
    /// The points of a star in a plane that cuts the box.
    [[nodiscard]] KRYLITH_HD int plane() const {
        return on[1].inner * on[0].size() + on[1].outer() * on[0].inner;
    }
};

/// The numbers of points of the rows of boxes from `first` on.
struct restricted_row_size {
    grid_boxes boxes;
    std::int64_t first;

    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        return restricted_points(boxes, first + row).size();
    }
};

/// The places of the blocks of rows, one row after the other: neighbouring items are neighbours in
/// memory, but for the places that a row does not have.
struct restricted_places {
    grid_boxes boxes;
    std::int64_t first;          ///< box of the rank
    const std::int64_t* offsets; ///< of R

    [[nodiscard]] std::int64_t count(std::int64_t rows) const {
        return rows * (boxes.stencil == grid_stencil::star ? of_star : of_full);
    }
    /// Calls visit(k, row, x, y, z, bits) where the row has the place, which is its entry k; bits
    /// are the axes along which the point is outside of the box.
    template <class Visit>
    KRYLITH_HD void visit(std::int64_t item, const Visit& visit) const {
        const bool star = boxes.stencil == grid_stencil::star;
        const std::int64_t row = star ? item / of_star : item / of_full;
        const auto place = static_cast<int>(item - row * (star ? of_star : of_full));
        const int x = (star ? place % 4 : place % 5) - 1;
        const int y = (star ? place / 4 % 4 : place / 5 % 5) - 1;
        const int z = (star ? place / 16 : place / 25) - 1;
        const restricted_points points(boxes, first + row);
        if (!points.has(x, y, z)) return;
        const int bits = (points.on[0].is_outside(x) ? 1 : 0) |
                         (points.on[1].is_outside(y) ? 2 : 0) |
                         (points.on[2].is_outside(z) ? 4 : 0);
        visit(offsets[row] + points.before(x, y, z), row, x, y, z, bits);
    }

private:
    static constexpr int of_star = 4 * 4 * 4; ///< boxes of 2 x 2 x 2
    static constexpr int of_full = 5 * 5 * 5; ///< boxes of 3 x 3 x 3
};

/// Writes the global column of a place.
struct restricted_columns_task {
    restricted_places places;
    std::int32_t* columns;

    KRYLITH_HD void operator()(std::int64_t item) const {
        places.visit(item, [&](std::int64_t k, std::int64_t row, int x, int y, int z, int) {
            const auto in_line = static_cast<std::int32_t>(places.boxes.grid.x);
            const auto in_plane = static_cast<std::int32_t>(places.boxes.grid.y) * in_line;
            columns[k] =
                places.boxes.lowest_point(places.first + row) + x + y * in_line + z * in_plane;
        });
    }
};

/// Writes the value of a place.
template <class T>
struct restricted_values_task {
    restricted_places places;
    const std::int32_t* columns; ///< of R, by which entries are
    entry_arrays<const T> p;
    T* values;

    KRYLITH_HD void operator()(std::int64_t item) const {
        places.visit(item, [&](std::int64_t k, std::int64_t, int, int, int, int outside) {
            values[k] = p(p_entries::of_axes(outside), columns[k]);
        });
    }
};

} // namespace krylith::aggregation
