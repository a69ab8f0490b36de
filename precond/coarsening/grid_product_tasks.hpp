// R (B P) of a grid, by tasks for its points and its boxes: all places are known, and no column is
// searched.
//
// B has the points next to a point along three axes, and boxes have 2 x 2 x 2 points, fewer at the
// upper ends alone. A point then has, along each axis, one neighbour in its own box and one, on the
// side that it reaches to, in the next box, if they are there. Its row of P has its own box and the
// three that it reaches to. Its row of B P has these, the three on the other sides, and for each
// two axes the box that it reaches to along both.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// The side to which a point reaches along an axis, from its place or that in its box.
[[nodiscard]] KRYLITH_HD constexpr int reach(int at) {
    return at % 2 == 0 ? -1 : 1;
}

/// A box by its steps along the axes from another.
struct box_step_along {
    int x;
    int y;
    int z;
};

/// The entries of a row of B P.
struct point_entries {
    static constexpr int own = 0;
    static constexpr int near = 1; ///< + axis: on the side that it reaches to
    static constexpr int far = 4;  ///< + axis: on the other side
    static constexpr int both = 7; ///< + the axis that is left out
    static constexpr int count = 10;
};

/// The boxes that a row of R (B P) refers to, in the order of their numbers: those around its own,
/// and those two steps away along an axis.
struct coarse_entries {
    static constexpr int count = 33;
    box_step_along at[count]{};

    KRYLITH_HD constexpr coarse_entries() {
        int found = 0;
        for (int z = -2; z <= 2; ++z)
            for (int y = -2; y <= 2; ++y)
                for (int x = -2; x <= 2; ++x)
                    if (is_entry(x, y, z)) at[found++] = {x, y, z};
    }
    [[nodiscard]] KRYLITH_HD static constexpr bool is_entry(int x, int y, int z) {
        const int most =
            x * x > y * y ? (x * x > z * z ? x * x : z * z) : (y * y > z * z ? y * y : z * z);
        return most <= 1 || x * x + y * y + z * z == 4;
    }
    /// The number of the entry of a box.
    [[nodiscard]] KRYLITH_HD static constexpr int number_of(int x, int y, int z) {
        const coarse_entries entries;
        int number = 0;
        while (entries.at[number].x != x || entries.at[number].y != y || entries.at[number].z != z)
            ++number;
        return number;
    }
};

/// Writes a point's row of B P.
template <class T>
struct point_rows_task {
    grid_shape grid;
    device_csr_view<T> b;
    device_csr_view<T> p;
    T* rows; ///< [point_entries::count][points]

    KRYLITH_HD void operator()(std::int64_t point) const {
        const place at = place_of(point);
        const T* entry = b.values + b.offsets[point];
        T sums[point_entries::count] = {};
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int axis = 2; axis >= 0; --axis)
            if (at.on[axis] > 0) add_next(point, at, axis, -1, *entry++, sums);
        add_own(p_of(point, at), *entry++, sums);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int axis = 0; axis < 3; ++axis)
            if (at.on[axis] + 1 < size(axis)) add_next(point, at, axis, 1, *entry++, sums);
        const std::int64_t points = grid.points();
        for (int k = 0; k < point_entries::count; ++k) rows[k * points + point] = sums[k];
    }

private:
    struct place {
        int on[3];
    };
    struct p_row {
        T own;
        T near[3];
    };

    [[nodiscard]] KRYLITH_HD int size(int axis) const {
        return static_cast<int>(axis == 0 ? grid.x : axis == 1 ? grid.y : grid.z);
    }
    [[nodiscard]] KRYLITH_HD place place_of(std::int64_t point) const {
        const grid_point at = grid.point_of(static_cast<std::int32_t>(point));
        return {{static_cast<int>(at.x), static_cast<int>(at.y), static_cast<int>(at.z)}};
    }
    [[nodiscard]] KRYLITH_HD p_row p_of(std::int64_t point, const place& at) const {
        const T* entry = p.values + p.offsets[point];
        p_row row{};
        for (int axis = 2; axis >= 0; --axis)
            if (reach(at.on[axis]) < 0 && at.on[axis] > 0) row.near[axis] = *entry++;
        row.own = *entry++;
        for (int axis = 0; axis < 3; ++axis)
            if (reach(at.on[axis]) > 0 && at.on[axis] + 1 < size(axis)) row.near[axis] = *entry++;
        return row;
    }
    KRYLITH_HD static void add(T& sum, T b, T p) {
        sum = plus_product(sum, b, p);
    }

    KRYLITH_HD static void add_own(const p_row& row, T b, T* sums) {
        add(sums[point_entries::own], b, row.own);
        for (int axis = 0; axis < 3; ++axis)
            add(sums[point_entries::near + axis], b, row.near[axis]);
    }
    /// Adds what the neighbour along an axis has.
    KRYLITH_HD void add_next(std::int64_t point, const place& at, int axis, int step, T b,
                             T* sums) const {
        const std::int64_t stride = axis == 0   ? 1
                                    : axis == 1 ? grid.x
                                                : std::int64_t{grid.x} * grid.y;
        place next = at;
        next.on[axis] += step;
        const p_row row = p_of(point + step * stride, next);
        const bool is_near = reach(at.on[axis]) == step;
        add(sums[point_entries::own], b, is_near ? row.near[axis] : row.own);
        T& beyond = is_near ? sums[point_entries::near + axis] : sums[point_entries::far + axis];
        add(beyond, b, is_near ? row.own : row.near[axis]);
        for (int other = 0; other < 3; ++other) {
            if (other == axis) continue;
            T& sum = is_near ? sums[point_entries::both + 3 - axis - other]
                             : sums[point_entries::near + other];
            add(sum, b, row.near[other]);
        }
    }
};

/// The entries of a box's row of P' (B P) whose boxes are there.
struct coarse_row {
    grid_shape boxes;
    grid_point at;

    [[nodiscard]] KRYLITH_HD bool has(box_step_along step) const {
        return is_there(at.x, step.x, boxes.x) && is_there(at.y, step.y, boxes.y) &&
               is_there(at.z, step.z, boxes.z);
    }
    [[nodiscard]] KRYLITH_HD std::int32_t number_of(box_step_along step) const {
        return boxes.number_of({at.x + static_cast<std::uint32_t>(step.x),
                                at.y + static_cast<std::uint32_t>(step.y),
                                at.z + static_cast<std::uint32_t>(step.z)});
    }

private:
    [[nodiscard]] KRYLITH_HD static bool is_there(std::uint32_t at, int step, std::uint32_t count) {
        const std::int64_t to = std::int64_t{at} + step;
        return to >= 0 && to < count;
    }
};

/// The number of entries of a box's row.
struct coarse_row_size {
    grid_shape boxes;

    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        constexpr coarse_entries entries;
        const coarse_row of{boxes, boxes.point_of(static_cast<std::int32_t>(row))};
        std::int32_t size = 0;
        for (const box_step_along& step : entries.at) size += of.has(step) ? 1 : 0;
        return size;
    }
};

/// Writes a box's row of R (B P), of what point_rows_task has written. The entries of its row of R
/// are for the points of the box and those next to it.
template <class T>
struct box_row_task {
    grid_boxes boxes;
    device_csr_view<T> r;
    const T* rows; ///< [point_entries::count][points]
    const std::int64_t* offsets;
    std::int32_t* columns; ///< null: they are there
    T* values;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const grid_shape shape = boxes.shape();
        const coarse_row of{shape, shape.point_of(static_cast<std::int32_t>(row))};
        T sums[coarse_entries::count] = {};
        const T* of_r = r.values + r.offsets[row];
        add_plane<-1>(of.at, of_r, sums);
        add_plane<0>(of.at, of_r, sums);
        add_plane<1>(of.at, of_r, sums);
        add_plane<2>(of.at, of_r, sums);
        constexpr coarse_entries entries;
        std::int64_t to = offsets[row];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < coarse_entries::count; ++k) {
            if (!of.has(entries.at[k])) continue;
            if (columns != nullptr) columns[to] = of.number_of(entries.at[k]);
            values[to++] = sums[k];
        }
    }

private:
    template <int X, int Y, int Z>
    struct steps {};

    template <int Z>
    KRYLITH_HD void add_plane(grid_point box, const T*& of_r, T* sums) const {
        add_line<-1, Z>(box, of_r, sums);
        add_line<0, Z>(box, of_r, sums);
        add_line<1, Z>(box, of_r, sums);
        add_line<2, Z>(box, of_r, sums);
    }
    template <int Y, int Z>
    KRYLITH_HD void add_line(grid_point box, const T*& of_r, T* sums) const {
        add_point<-1, Y, Z>(box, of_r, sums);
        add_point<0, Y, Z>(box, of_r, sums);
        add_point<1, Y, Z>(box, of_r, sums);
        add_point<2, Y, Z>(box, of_r, sums);
    }
    [[nodiscard]] KRYLITH_HD static constexpr bool is_outside(int at) {
        return at < 0 || at > 1;
    }
    [[nodiscard]] KRYLITH_HD static constexpr int box_of(int at) {
        return at < 0 ? -1 : at / 2;
    }

    /// Adds the row of B P of a point, times the next entry of R, if the point has one.
    template <int X, int Y, int Z>
    KRYLITH_HD void add_point(grid_point box, const T*& of_r, T* sums) const {
        constexpr int outside = is_outside(X) + is_outside(Y) + is_outside(Z);
        if constexpr (outside <= 1) {
            const std::int64_t x = std::int64_t{2} * box.x + X;
            const std::int64_t y = std::int64_t{2} * box.y + Y;
            const std::int64_t z = std::int64_t{2} * box.z + Z;
            const grid_shape& grid = boxes.grid;
            if (x < 0 || y < 0 || z < 0 || x >= grid.x || y >= grid.y || z >= grid.z) return;
            const std::int64_t points = grid.points();
            const T* const entry = rows + (z * grid.y + y) * grid.x + x;
            const T factor = *of_r++;
            const auto add = [&]<int DX, int DY, int DZ>(steps<DX, DY, DZ>, int number) {
                constexpr int to = coarse_entries::number_of(DX, DY, DZ);
                sums[to] = plus_product(sums[to], factor, entry[number * points]);
            };
            constexpr int bx = box_of(X);
            constexpr int by = box_of(Y);
            constexpr int bz = box_of(Z);
            constexpr int rx = reach(X);
            constexpr int ry = reach(Y);
            constexpr int rz = reach(Z);
            add(steps<bx, by, bz>{}, point_entries::own);
            add(steps<bx + rx, by, bz>{}, point_entries::near);
            add(steps<bx, by + ry, bz>{}, point_entries::near + 1);
            add(steps<bx, by, bz + rz>{}, point_entries::near + 2);
            add(steps<bx - rx, by, bz>{}, point_entries::far);
            add(steps<bx, by - ry, bz>{}, point_entries::far + 1);
            add(steps<bx, by, bz - rz>{}, point_entries::far + 2);
            add(steps<bx, by + ry, bz + rz>{}, point_entries::both);
            add(steps<bx + rx, by, bz + rz>{}, point_entries::both + 1);
            add(steps<bx + rx, by + ry, bz>{}, point_entries::both + 2);
        }
    }
};

} // namespace krylith::aggregation
