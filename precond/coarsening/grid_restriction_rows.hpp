// The rows of R, the transposed prolongation of boxes of a grid's points, without a transposition:
// a box's row has the points of the box and, with the stencil of the matrix, those around it.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>

namespace krylith::aggregation {

/// The points of a box's row, line after line along x; lines are named by their steps along y and z
/// from the lowest point of the box.
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

    /// The steps along x of the points of a line; none where the stencil has no such line.
    [[nodiscard]] KRYLITH_HD box_span line(int y, int z) const {
        const int outside = (on[1].is_outside(y) ? 1 : 0) + (on[2].is_outside(z) ? 1 : 0);
        if (!star || outside == 0) return on[0];
        return {on[0].inner, 0, outside == 1 ? on[0].inner : 0};
    }
    /// The points of the lines before one.
    [[nodiscard]] KRYLITH_HD std::int32_t before(int y, int z) const {
        std::int32_t points = 0;
        for (int k = on[2].first; k <= z; ++k) {
            const int end = k == z ? y : on[1].end;
            for (int j = on[1].first; j < end; ++j) points += line(j, k).size();
        }
        return points;
    }
    [[nodiscard]] KRYLITH_HD std::int32_t size() const { return before(on[1].end, on[2].end - 1); }
};

/// The numbers of points of the rows of boxes from `first` on.
struct restricted_row_size {
    grid_boxes boxes;
    std::int64_t first;

    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        return restricted_points(boxes, first + row).size();
    }
};

/// The lines of the rows of boxes, one after the other, of which a row may not have all.
struct restricted_lines {
    grid_boxes boxes;
    std::int64_t first;          ///< box of the rank
    const std::int64_t* offsets; ///< of R

    [[nodiscard]] std::int64_t count(std::int64_t rows) const { return rows * lines(); }
    /// Calls visit(k, bits) for the entries of a line, bits being the axes along which the point
    /// lies outside of the box.
    template <class Visit>
    KRYLITH_HD void visit(std::int64_t item, const Visit& visit) const {
        const std::int64_t row = item / lines();
        const auto of_row = static_cast<int>(item - row * lines());
        const int z = of_row / (boxes.edges[1] + 2) - 1;
        const int y = of_row % (boxes.edges[1] + 2) - 1;
        const restricted_points points(boxes, first + row);
        if (!points.on[1].has(y) || !points.on[2].has(z)) return;
        const box_span line = points.line(y, z);
        const int bits =
            (points.on[1].is_outside(y) ? 2 : 0) | (points.on[2].is_outside(z) ? 4 : 0);
        std::int64_t k = offsets[row] + points.before(y, z);
        for (int x = line.first; x < line.end; ++x)
            visit(row, k++, x, y, z, bits | (line.is_outside(x) ? 1 : 0));
    }

private:
    [[nodiscard]] KRYLITH_HD int lines() const {
        return (boxes.edges[1] + 2) * (boxes.edges[2] + 2);
    }
};

/// Writes the global columns of a line.
struct restricted_columns_task {
    restricted_lines lines;
    std::int32_t* columns;

    KRYLITH_HD void operator()(std::int64_t item) const {
        const grid_boxes& boxes = lines.boxes;
        lines.visit(item, [&](std::int64_t row, std::int64_t k, int x, int y, int z, int) {
            const grid_point box =
                boxes.shape().point_of(static_cast<std::int32_t>(lines.first + row));
            const auto at = [&](std::uint32_t of_box, int axis, int step) {
                return of_box * static_cast<std::uint32_t>(boxes.edges[axis]) +
                       static_cast<std::uint32_t>(step);
            };
            columns[k] = boxes.grid.number_of({at(box.x, 0, x), at(box.y, 1, y), at(box.z, 2, z)});
        });
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
        lines.visit(item, [&](std::int64_t, std::int64_t k, int, int, int, int outside) {
            values[k] = p(p_entries::of_axes(outside), columns[k]);
        });
    }
};

} // namespace krylith::aggregation
