// The row of R (B P) of a box of a grid's points, from the rows of B P of the points.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/kernel/unroll.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/precond/coarsening/grid_point_rows.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// How many boxes one is from another along each axis.
struct box_offset {
    int x;
    int y;
    int z;
};

/// The boxes that a row of R (B P) refers to, in the order of their numbers: those around its own,
/// and those two steps away along an axis.
struct coarse_entries {
    static constexpr int count = 33;
    box_offset at[count]{};

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

/// The entries of a box's row of R (B P) whose boxes are there.
struct coarse_row {
    grid_shape boxes;
    grid_point at;

    [[nodiscard]] KRYLITH_HD bool has(box_offset step) const {
        return is_there(at.x, step.x, boxes.x) && is_there(at.y, step.y, boxes.y) &&
               is_there(at.z, step.z, boxes.z);
    }
    [[nodiscard]] KRYLITH_HD std::int32_t number_of(box_offset step) const {
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

/// The numbers of entries of the rows of boxes from `first` on.
struct coarse_row_size {
    grid_shape boxes;
    std::int64_t first;

    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        constexpr coarse_entries entries;
        const coarse_row of{boxes, boxes.point_of(static_cast<std::int32_t>(first + row))};
        std::int32_t size = 0;
        for (const box_offset& step : entries.at) size += of.has(step) ? 1 : 0;
        return size;
    }
};

/// Writes a box's row of R (B P). Its row of R has the points of the box and those next to it.
template <class T>
struct box_row_task {
    grid_boxes boxes;
    std::int64_t first; ///< box of the rank
    device_csr_view<T> r;
    entry_arrays<const T> rows; ///< of B P, by the local columns of R
    const std::int64_t* offsets;
    std::int32_t* columns; ///< global ones; null: they are there
    T* values;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const grid_shape shape = boxes.shape();
        const coarse_row of{shape, shape.point_of(static_cast<std::int32_t>(first + row))};
        T sums[coarse_entries::count] = {};
        std::int64_t k = r.offsets[row];
        add_plane<-1>(of.at, k, sums);
        add_plane<0>(of.at, k, sums);
        add_plane<1>(of.at, k, sums);
        add_plane<2>(of.at, k, sums);
        constexpr coarse_entries entries;
        std::int64_t to = offsets[row];
        KRYLITH_UNROLL
        for (int entry = 0; entry < coarse_entries::count; ++entry) {
            if (!of.has(entries.at[entry])) continue;
            if (columns != nullptr) columns[to] = of.number_of(entries.at[entry]);
            values[to++] = sums[entry];
        }
    }

private:
    template <int X, int Y, int Z>
    struct steps {};

    template <int Z>
    KRYLITH_HD void add_plane(grid_point box, std::int64_t& k, T* sums) const {
        add_line<-1, Z>(box, k, sums);
        add_line<0, Z>(box, k, sums);
        add_line<1, Z>(box, k, sums);
        add_line<2, Z>(box, k, sums);
    }
    template <int Y, int Z>
    KRYLITH_HD void add_line(grid_point box, std::int64_t& k, T* sums) const {
        constexpr int outside = is_outside(Y) + is_outside(Z);
        if constexpr (outside <= 1) {
            if (!has(box.y, Y, boxes.grid.y) || !has(box.z, Z, boxes.grid.z)) return;
            constexpr int first = outside == 0 ? -1 : 0;
            std::int64_t k_of_0 = k; // local columns of a line follow one another, as points do
            if (first < 0 && box.x > 0) ++k_of_0;
            const std::int64_t point = r.indices[k_of_0];
            if constexpr (first < 0) add_point<-1, Y, Z>(box, point, k, sums);
            add_point<0, Y, Z>(box, point, k, sums);
            add_point<1, Y, Z>(box, point, k, sums);
            if constexpr (first < 0) add_point<2, Y, Z>(box, point, k, sums);
        }
    }
    [[nodiscard]] KRYLITH_HD static constexpr bool is_outside(int at) { return at < 0 || at > 1; }
    [[nodiscard]] KRYLITH_HD static constexpr int box_of(int at) { return at < 0 ? -1 : at / 2; }
    [[nodiscard]] KRYLITH_HD static bool has(std::uint32_t box, int step, std::uint32_t points) {
        const std::int64_t to = std::int64_t{2} * box + step;
        return to >= 0 && to < points;
    }

    /// Adds the row of B P of a point, times the next entry of R, if the point is there.
    template <int X, int Y, int Z>
    KRYLITH_HD void add_point(grid_point box, std::int64_t point_of_0, std::int64_t& k,
                              T* sums) const {
        if (!has(box.x, X, boxes.grid.x)) return;
        const T factor = r.values[k++];
        const std::int64_t point = point_of_0 + X;
        const auto add = [&]<int DX, int DY, int DZ>(steps<DX, DY, DZ>, int entry) {
            constexpr int to = coarse_entries::number_of(DX, DY, DZ);
            sums[to] = plus_product(sums[to], factor, rows(entry, point));
        };
        constexpr int bx = box_of(X);
        constexpr int by = box_of(Y);
        constexpr int bz = box_of(Z);
        constexpr int rx = reach((X + 2) % 2, 2);
        constexpr int ry = reach((Y + 2) % 2, 2);
        constexpr int rz = reach((Z + 2) % 2, 2);
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
};

} // namespace krylith::aggregation
