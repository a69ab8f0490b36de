// The rows of R, the transposed prolongation of boxes of a grid's points, without a transposition:
// a box's row has the points of the box and, with the stencil of the matrix, those around it.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>

namespace krylith::aggregation {

/// The points of a box's row, which are named by their steps from the lowest point of the box. They
/// lie in a block, of which a star has no points that are outside of the box along two axes.
struct restricted_points {
    box_span on[3];
    bool star;

    KRYLITH_HD restricted_points(const grid_boxes& boxes, grid_point box)
        : star(boxes.stencil == grid_stencil::star) {
        on[0] = boxes.span_of(box.x, 0);
        on[1] = boxes.span_of(box.y, 1);
        on[2] = boxes.span_of(box.z, 2);
    }
    KRYLITH_HD restricted_points(const grid_boxes& boxes, std::int64_t box)
        : restricted_points(boxes, boxes.shape().point_of(static_cast<std::int32_t>(box))) {}

    [[nodiscard]] KRYLITH_HD std::int32_t size() const {
        return star ? on[2].inner * plane() + on[2].outer() * on[1].inner * on[0].inner
                    : on[2].size() * on[1].size() * on[0].size();
    }
    /// The steps along x of the points of a line; none where there is no such line.
    [[nodiscard]] KRYLITH_HD box_span line(int y, int z) const {
        if (!on[1].has(y) || !on[2].has(z)) return {on[0].inner, 0, 0};
        const int outside = (on[1].is_outside(y) ? 1 : 0) + (on[2].is_outside(z) ? 1 : 0);
        if (!star || outside == 0) return on[0];
        return {on[0].inner, 0, outside == 1 ? on[0].inner : 0};
    }
    /// How many points of the row come before the first one of a line.
    [[nodiscard]] KRYLITH_HD std::int32_t before(int y, int z) const {
        if (!star) return ((z - on[2].first) * on[1].size() + y - on[1].first) * on[0].size();
        if (z < 0) return y * on[0].inner;
        const int lines = z * plane() - on[2].first * on[1].inner * on[0].inner;
        if (z >= on[2].inner) return lines + y * on[0].inner;
        return y < 0 ? lines : lines - on[1].first * on[0].inner + y * on[0].size();
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

/// The lines of the blocks of rows, one row after the other: neighbouring items are neighbours in
/// memory, but for the lines that a row does not have.
struct restricted_lines {
    grid_boxes boxes;
    grid_shape shape;            ///< of the boxes
    std::int64_t first;          ///< box of the rank
    const std::int64_t* offsets; ///< of R

    [[nodiscard]] std::int64_t count(std::int64_t rows) const {
        return rows * (boxes.stencil == grid_stencil::star ? of_star : of_full);
    }
    /// Calls visit(k, point, bits) for each entry k of a line, whose column is a point; bits are
    /// the axes along which it is outside of the box.
    template <class Visit>
    KRYLITH_HD void visit(std::int64_t item, const Visit& visit) const {
        const bool star = boxes.stencil == grid_stencil::star;
        const std::int64_t row = star ? item / of_star : item / of_full;
        const auto place = static_cast<int>(item - row * (star ? of_star : of_full));
        const int y = (star ? place % 4 : place % 5) - 1;
        const int z = (star ? place / 4 : place / 5) - 1;
        const grid_point box = shape.point_of(static_cast<std::int32_t>(first + row));
        const restricted_points points(boxes, box);
        const box_span line = points.line(y, z);
        if (line.size() == 0) return;
        const auto in_line = static_cast<std::int32_t>(boxes.grid.x);
        const auto in_plane = static_cast<std::int32_t>(boxes.grid.y) * in_line;
        const std::int32_t point = boxes.lowest_point(box) + y * in_line + z * in_plane;
        const int bits =
            (points.on[1].is_outside(y) ? 2 : 0) | (points.on[2].is_outside(z) ? 4 : 0);
        std::int64_t k = offsets[row] + points.before(y, z);
        for (int x = line.first; x < line.end; ++x, ++k)
            visit(k, point + x, bits | (line.is_outside(x) ? 1 : 0));
    }

private:
    static constexpr int of_star = 4 * 4; ///< boxes of 2 x 2 x 2
    static constexpr int of_full = 5 * 5; ///< boxes of 3 x 3 x 3
};

/// Writes the global columns of a line.
struct restricted_columns_task {
    restricted_lines lines;
    std::int32_t* columns;

    KRYLITH_HD void operator()(std::int64_t item) const {
        lines.visit(item, [&](std::int64_t k, std::int32_t point, int) { columns[k] = point; });
    }
};

/// Writes the values of a line.
template <class T>
struct restricted_values_task {
    restricted_lines lines;
    const std::int32_t* columns; ///< of R, by which entries are
    entry_arrays<const T> p;
    T* values;

    KRYLITH_HD void operator()(std::int64_t item) const {
        lines.visit(item, [&](std::int64_t k, std::int32_t, int outside) {
            values[k] = p(p_entries::of_axes(outside), columns[k]);
        });
    }
};

} // namespace krylith::aggregation
