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
    [[nodiscard]] KRYLITH_HD std::int32_t size() const {
        std::int32_t points = 0;
        for (int z = on[2].first; z < on[2].end; ++z)
            for (int y = on[1].first; y < on[1].end; ++y) points += line(y, z).size();
        return points;
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

/// Writes the global columns of a box's row.
struct restricted_columns_task {
    grid_boxes boxes;
    std::int64_t first; ///< box of the rank
    const std::int64_t* offsets;
    std::int32_t* columns;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const restricted_points points(boxes, first + row);
        const std::int32_t lowest = boxes.lowest_point(first + row);
        const auto in_line = static_cast<std::int32_t>(boxes.grid.x);
        const std::int32_t in_plane = in_line * static_cast<std::int32_t>(boxes.grid.y);
        std::int64_t k = offsets[row];
        for (int z = points.on[2].first; z < points.on[2].end; ++z)
            for (int y = points.on[1].first; y < points.on[1].end; ++y) {
                const box_span line = points.line(y, z);
                for (int x = line.first; x < line.end; ++x)
                    columns[k++] = lowest + x + y * in_line + z * in_plane;
            }
    }
};

/// Writes the values of a box's row.
template <class T>
struct restricted_values_task {
    grid_boxes boxes;
    std::int64_t first; ///< box of the rank
    const std::int64_t* offsets;
    const std::int32_t* columns; ///< of R, by which entries are
    entry_arrays<const T> p;
    T* values;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const restricted_points points(boxes, first + row);
        std::int64_t k = offsets[row];
        for (int z = points.on[2].first; z < points.on[2].end; ++z)
            for (int y = points.on[1].first; y < points.on[1].end; ++y) {
                const box_span line = points.line(y, z);
                const int outside =
                    (points.on[1].is_outside(y) ? 2 : 0) | (points.on[2].is_outside(z) ? 4 : 0);
                for (int x = line.first; x < line.end; ++x, ++k)
                    values[k] =
                        p(p_entries::of_axes(outside | (line.is_outside(x) ? 1 : 0)), columns[k]);
            }
    }
};

} // namespace krylith::aggregation
