// Rows of B P and R (B P) of a grid where B has all points around a point and boxes have 3 x 3 x 3
// points, fewer at the upper ends alone: all places are known, and no column is searched.
//
// Along an axis, a point in the middle of its box has both neighbours in it, and its row of B P has
// the boxes on both sides, to which they reach. One at an end of its box reaches to the next box,
// and its row of B P has these two. A row of P, of B P or of R (B P) has all combinations of what
// it has along the axes; a row of R has all points of its box and around it.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/kernel/unroll.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/precond/coarsening/grid_restriction_rows.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// Along an axis, which entry of the row of P of a neighbour, at `step` from a point at a place in
/// its box, is of the box at `box` from that of the point.
struct axis_term {
    static constexpr int own = 0;  ///< that of the box that the neighbour is in
    static constexpr int near = 1; ///< that of the box that it reaches to
    static constexpr int none = 2;

    [[nodiscard]] KRYLITH_HD static constexpr int of(int place, int step, int box) {
        const int to = place + step;
        const int box_of_it = to < 0 ? -1 : to / 3;
        const int side = reach(to - 3 * box_of_it, 3);
        if (box == box_of_it) return own;
        return side != 0 && box == box_of_it + side ? near : none;
    }
};

/// The entries of a point's row of B P by their boxes, at -1 .. 1 along each axis from its own.
struct full_entries {
    static constexpr int count = 27;
    [[nodiscard]] KRYLITH_HD static constexpr int of(int x, int y, int z) {
        return 9 * (z + 1) + 3 * (y + 1) + x + 1;
    }
    /// Whether the row of a point at a place in its box has such an entry along an axis. It is 0
    /// where the box is not there.
    [[nodiscard]] KRYLITH_HD static constexpr bool has(int place, int box) {
        return place == 1 || box == 0 || box == reach(place, 3);
    }
};

/// Writes a point's row of B P.
template <class T>
struct full_point_rows_task {
    owned_points points;
    device_csr_view<T> b;
    entry_arrays<const T> p; ///< by the local columns of B
    entry_arrays<T> rows;    ///< from the first owned point on

    KRYLITH_HD void operator()(std::int64_t row) const {
        const owned_points::place at = points.at(row);
        switch (at.on[1] % 3 + 3 * (at.on[2] % 3)) {
        case 0: return write<0, 0>(row, at);
        case 1: return write<1, 0>(row, at);
        case 2: return write<2, 0>(row, at);
        case 3: return write<0, 1>(row, at);
        case 4: return write<1, 1>(row, at);
        case 5: return write<2, 1>(row, at);
        case 6: return write<0, 2>(row, at);
        case 7: return write<1, 2>(row, at);
        default: return write<2, 2>(row, at);
        }
    }

private:
    /// A point's row of B, and what of it is there.
    struct matrix_row {
        T values[27];            ///< by steps, x first; 0 where no point is there
        std::int32_t columns[9]; ///< of the points with no step along x
        bool there[3];           ///< steps along x
        int place;               ///< along x
    };

    [[nodiscard]] KRYLITH_HD matrix_row read(std::int64_t row,
                                             const owned_points::place& at) const {
        matrix_row of{};
        of.place = at.on[0] % 3;
        for (int x = -1; x <= 1; ++x) of.there[x + 1] = points.has(at, 0, x);
        const int in_line = 1 + of.there[0] + of.there[2];
        std::int64_t k = b.offsets[row] + of.there[0]; // of no step along x
        KRYLITH_UNROLL
        for (int line = 0; line < 9; ++line) {
            if (!points.has(at, 1, line % 3 - 1) || !points.has(at, 2, line / 3 - 1)) continue;
            of.columns[line] = b.indices[k];
            KRYLITH_UNROLL
            for (int x = -1; x <= 1; ++x)
                if (of.there[x + 1]) of.values[3 * line + x + 1] = b.values[k + x];
            k += in_line;
        }
        return of;
    }

    template <int Y, int Z>
    KRYLITH_HD void write(std::int64_t row, const owned_points::place& at) const {
        const matrix_row of = read(row, at);
        T sums[full_entries::count] = {};
        KRYLITH_UNROLL
        for (int line = 0; line < 9; ++line) {
            const int y = line % 3 - 1;
            const int z = line / 3 - 1;
            if (!points.has(at, 1, y) || !points.has(at, 2, z)) continue;
            KRYLITH_UNROLL
            for (int box = 0; box < 9; ++box) {
                const int of_y = axis_term::of(Y, y, box % 3 - 1);
                const int of_z = axis_term::of(Z, z, box / 3 - 1);
                if (of_y != axis_term::none && of_z != axis_term::none)
                    add(of, line, of_y << 1 | of_z << 2, sums + 3 * box);
            }
        }
        KRYLITH_UNROLL
        for (int entry = 0; entry < full_entries::count; ++entry)
            if (full_entries::has(Y, entry / 3 % 3 - 1) && full_entries::has(Z, entry / 9 - 1) &&
                full_entries::has(of.place, entry % 3 - 1))
                rows(entry, row) = sums[entry];
    }

    /// Adds what the neighbours in a line have with these bits of y and z, to the sums of the boxes
    /// at -1 .. 1 along x. Each entry of theirs is of one of two boxes, as the place says.
    KRYLITH_HD void add(const matrix_row& of, int line, int bits, T* sums) const {
        const T* const own = &p(p_entries::of_axes(bits), 0);
        const T* const near = &p(p_entries::of_axes(bits | 1), 0);
        const std::int32_t j = of.columns[line];
        const T* const value = of.values + 3 * line;
        if (of.there[0]) {
            add_to(sums, of.place == 0 ? -1 : 0, value[0], own[j - 1]);
            if (of.place != 2) add_to(sums, of.place == 0 ? 0 : -1, value[0], near[j - 1]);
        }
        sums[1] = plus_product(sums[1], value[1], own[j]);
        if (of.place != 1) add_to(sums, of.place == 0 ? -1 : 1, value[1], near[j]);
        if (of.there[2]) {
            add_to(sums, of.place == 2 ? 1 : 0, value[2], own[j + 1]);
            if (of.place != 0) add_to(sums, of.place == 2 ? 0 : 1, value[2], near[j + 1]);
        }
    }
    KRYLITH_HD static void add_to(T* sums, int box, T value, T entry) {
        if (box < 0) sums[0] = plus_product(sums[0], value, entry);
        if (box == 0) sums[1] = plus_product(sums[1], value, entry);
        if (box > 0) sums[2] = plus_product(sums[2], value, entry);
    }
};

/// Along an axis, the boxes to whose numbers a box's row of R (B P) refers.
struct neighbour_boxes {
    int first;
    int last;

    KRYLITH_HD neighbour_boxes(std::uint32_t at, std::uint32_t boxes)
        : first(at > 0 ? -1 : 0), last(at + 1 < boxes ? 1 : 0) {}
    [[nodiscard]] KRYLITH_HD int size() const { return last - first + 1; }
    [[nodiscard]] KRYLITH_HD bool has(int step) const { return step >= first && step <= last; }
};

/// The numbers of entries of the rows of boxes from `first` on.
struct full_row_size {
    grid_shape boxes;
    std::int64_t first;

    [[nodiscard]] KRYLITH_HD std::int32_t operator()(std::int64_t row) const {
        const grid_point at = boxes.point_of(static_cast<std::int32_t>(first + row));
        return neighbour_boxes(at.x, boxes.x).size() * neighbour_boxes(at.y, boxes.y).size() *
               neighbour_boxes(at.z, boxes.z).size();
    }
};

/// Writes a box's row of R (B P).
template <class T>
struct full_box_rows_task {
    grid_boxes boxes;
    std::int64_t first; ///< box of the rank
    device_csr_view<T> r;
    entry_arrays<const T> rows; ///< of B P, by the local columns of R
    const std::int64_t* offsets;
    std::int32_t* columns; ///< global ones; null: they are there
    T* values;

    KRYLITH_HD void operator()(std::int64_t row) const {
        const restricted_points points(boxes, first + row);
        T sums[full_entries::count] = {};
        std::int64_t k = r.offsets[row] - points.on[0].first; // of step 0 in the first line
        KRYLITH_UNROLL
        for (int z = -1; z <= 3; ++z) {
            if (!points.on[2].has(z)) continue;
            KRYLITH_UNROLL
            for (int y = -1; y <= 3; ++y) {
                if (!points.on[1].has(y)) continue;
                add_line(points.on[0], k, y, z, sums);
                k += points.on[0].size();
            }
        }
        write(row, sums);
    }

private:
    /// The entry, along an axis, that the row of B P of a point has of the box at `box`; 2: none.
    [[nodiscard]] KRYLITH_HD static constexpr int entry_of(int step, int box) {
        const int box_of_it = step < 0 ? -1 : step / 3;
        const int from_it = box - box_of_it;
        const bool there =
            from_it >= -1 && from_it <= 1 && full_entries::has(step - 3 * box_of_it, from_it);
        return there ? from_it : 2;
    }

    KRYLITH_HD void add_line(const box_span& on, std::int64_t k, int y, int z,
                             T (&sums)[full_entries::count]) const {
        const std::int64_t i = r.indices[k];
        KRYLITH_UNROLL
        for (int x = -1; x <= 3; ++x) {
            if (!on.has(x)) continue;
            const T factor = r.values[k + x];
            KRYLITH_UNROLL
            for (int box = 0; box < full_entries::count; ++box) {
                const int of_x = entry_of(x, box % 3 - 1);
                const int of_y = entry_of(y, box / 3 % 3 - 1);
                const int of_z = entry_of(z, box / 9 - 1);
                if (of_x == 2 || of_y == 2 || of_z == 2) continue;
                sums[box] = plus_product(sums[box], factor,
                                         rows(full_entries::of(of_x, of_y, of_z), i + x));
            }
        }
    }

    KRYLITH_HD void write(std::int64_t row, const T (&sums)[full_entries::count]) const {
        const grid_shape shape = boxes.shape();
        const grid_point at = shape.point_of(static_cast<std::int32_t>(first + row));
        const neighbour_boxes on[3] = {{at.x, shape.x}, {at.y, shape.y}, {at.z, shape.z}};
        const auto in_line = static_cast<std::int32_t>(shape.x);
        const auto in_plane = static_cast<std::int32_t>(shape.y) * in_line;
        std::int64_t to = offsets[row];
        KRYLITH_UNROLL
        for (int box = 0; box < full_entries::count; ++box) {
            const int x = box % 3 - 1;
            const int y = box / 3 % 3 - 1;
            const int z = box / 9 - 1;
            if (!on[0].has(x) || !on[1].has(y) || !on[2].has(z)) continue;
            if (columns != nullptr)
                columns[to] = shape.number_of(at) + x + y * in_line + z * in_plane;
            values[to++] = sums[box];
        }
    }
};

} // namespace krylith::aggregation
