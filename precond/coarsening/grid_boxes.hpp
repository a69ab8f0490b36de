// Boxes of the points of a grid in two or three dimensions. Numbers of points, and of boxes, ascend
// along x, then y, then z.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::aggregation {

struct grid_point {
    std::uint32_t x;
    std::uint32_t y;
    std::uint32_t z;
};

/// The points along each axis; fewer than 2^31 in all.
struct grid_shape {
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t z = 0; ///< 1 in two dimensions

    [[nodiscard]] KRYLITH_HD std::int64_t points() const { return std::int64_t{1} * x * y * z; }
    [[nodiscard]] KRYLITH_HD int along(int axis) const {
        return static_cast<int>(axis == 0 ? x : axis == 1 ? y : z);
    }
    [[nodiscard]] KRYLITH_HD grid_point point_of(std::int32_t number) const {
        const auto n = static_cast<std::uint32_t>(number);
        const std::uint32_t line = n / x;
        const std::uint32_t plane = line / y;
        return {n - line * x, line - plane * y, plane};
    }
    [[nodiscard]] KRYLITH_HD std::int32_t number_of(grid_point at) const {
        return static_cast<std::int32_t>((at.z * y + at.y) * x + at.x);
    }
};

/// The points to which that of a row is coupled, all others that are there being none of its row.
enum class grid_stencil {
    other,
    star, ///< those next to it along the axes
    full  ///< those that are at most a step away along each axis
};

/// The points along an axis that a box's row of R may have, by their steps from its lowest: those
/// of the box, [0, inner), and one on either side, if it is there.
struct box_span {
    int inner;
    int first;
    int end;

    [[nodiscard]] KRYLITH_HD bool has(int step) const { return step >= first && step < end; }
    [[nodiscard]] KRYLITH_HD bool is_outside(int step) const { return step < 0 || step >= inner; }
    [[nodiscard]] KRYLITH_HD int size() const { return end - first; }
    [[nodiscard]] KRYLITH_HD int outer() const { return size() - inner; }
};

/// Boxes of so many points along the axes; those at the upper ends may have fewer.
struct grid_boxes {
    grid_shape grid;
    int edges[3] = {1, 1, 1};
    grid_stencil stencil = grid_stencil::other;

    /// Whether R and P' A P are those of grid_restriction.hpp and grid_product.hpp, where P is
    /// smoothed.
    [[nodiscard]] bool have_product() const {
        const auto are = [this](int edge) {
            return edges[0] == edge && edges[1] == edge && edges[2] == edge;
        };
        return (stencil == grid_stencil::star && are(2)) ||
               (stencil == grid_stencil::full && are(3));
    }
    [[nodiscard]] KRYLITH_HD box_span span_of(std::uint32_t box, int axis) const {
        const int left = grid.along(axis) - static_cast<int>(box) * edges[axis];
        const int inner = left < edges[axis] ? left : edges[axis];
        return {inner, box == 0 ? 0 : -1, left > inner ? inner + 1 : inner};
    }

    [[nodiscard]] KRYLITH_HD grid_shape shape() const {
        return {boxes_along(grid.x, 0), boxes_along(grid.y, 1), boxes_along(grid.z, 2)};
    }
    /// The number of the box of a point.
    [[nodiscard]] KRYLITH_HD std::int32_t box_of(std::int32_t number) const {
        const grid_point at = grid.point_of(number);
        return shape().number_of({at.x / edge(0), at.y / edge(1), at.z / edge(2)});
    }
    /// The number of the lowest point of a box; these ascend.
    [[nodiscard]] KRYLITH_HD std::int32_t lowest_point(grid_point box) const {
        return grid.number_of({box.x * edge(0), box.y * edge(1), box.z * edge(2)});
    }
    /// The first box whose lowest point is `point` or a later one. O(log n).
    [[nodiscard]] std::int64_t first_box_from(std::int64_t point) const {
        const grid_shape boxes = shape();
        std::int64_t begin = 0;
        std::int64_t end = boxes.points();
        while (begin < end) {
            const std::int64_t middle = begin + (end - begin) / 2;
            if (lowest_point(boxes.point_of(static_cast<std::int32_t>(middle))) < point)
                begin = middle + 1;
            else
                end = middle;
        }
        return begin;
    }

private:
    [[nodiscard]] KRYLITH_HD std::uint32_t edge(int axis) const {
        return static_cast<std::uint32_t>(edges[axis]);
    }
    [[nodiscard]] KRYLITH_HD std::uint32_t boxes_along(std::uint32_t points, int axis) const {
        return (points + edge(axis) - 1) / edge(axis);
    }
};

/// "boxes of 2 x 2 x 2"
[[nodiscard]] std::string in_words(const grid_boxes& boxes);

} // namespace krylith::aggregation
