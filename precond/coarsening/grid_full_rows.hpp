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
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/precond/coarsening/grid_restriction_rows.hpp>

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

/// Writes the rows of B P of the points that a line along x has in a box.
template <class T>
struct full_point_rows_task {
    owned_points points;
    std::int64_t count; ///< points of the rank
    device_csr_view<T> b;
    entry_arrays<const T> p; ///< by the local columns of B
    entry_arrays<T> rows;    ///< from the first owned point on

    [[nodiscard]] std::int64_t items() const {
        const std::int64_t in_line = points.boxes.grid.x;
        if (count == 0) return 0;
        return ((points.first + count - 1) / in_line - points.first / in_line + 1) * in_boxes();
    }

    KRYLITH_HD void operator()(std::int64_t item) const {
        const grid_shape& grid = points.boxes.grid;
        const auto of_item = static_cast<std::int64_t>(item / in_boxes());
        const auto line = static_cast<std::uint32_t>(of_item + points.first / grid.x);
        some_points of;
        const auto box = static_cast<std::int32_t>(item - of_item * in_boxes());
        of.row = std::int64_t{line} * grid.x + 3 * box - points.first;
        for (int step = -1; step <= 3; ++step) {
            const int x = 3 * box + step;
            of.there[step + 1] = x >= 0 && x < static_cast<int>(grid.x);
        }
        bool any = false;
        for (int place = 0; place < 3; ++place) {
            const std::int64_t row = of.row + place;
            of.owned[place] = of.there[place + 1] && row >= 0 && row < count;
            any = any || of.owned[place];
            of.begin[place] = of.owned[place] ? b.offsets[row] + (of.there[place] ? 1 : 0) : 0;
        }
        if (!any) return;
        const std::uint32_t y = line % grid.y;
        const std::uint32_t z = line / grid.y;
        of.below[0] = y > 0;
        of.above[0] = y + 1 < grid.y;
        of.below[1] = z > 0;
        of.above[1] = z + 1 < grid.z;
        switch (static_cast<int>(y % 3 + 3 * (z % 3))) {
        case 0: return write<0, 0>(of);
        case 1: return write<1, 0>(of);
        case 2: return write<2, 0>(of);
        case 3: return write<0, 1>(of);
        case 4: return write<1, 1>(of);
        case 5: return write<2, 1>(of);
        case 6: return write<0, 2>(of);
        case 7: return write<1, 2>(of);
        default: return write<2, 2>(of);
        }
    }

private:
    /// The points at the places of a box's line.
    struct some_points {
        std::int64_t row;      ///< of the first, whoever owns it
        std::int64_t begin[3]; ///< the entry of each with no step along x, in a line of its row
        bool owned[3];
        bool there[5]; ///< from step -1 to 3 along x
        bool below[2]; ///< along y and z
        bool above[2];
    };
    /// What the places of a line have of neighbours' rows of P.
    struct line_values {
        T b[3][3]; ///< [place][step + 1]
        T p[2][5]; ///< own and near entries, from step -1 to 3
    };

    [[nodiscard]] KRYLITH_HD std::int32_t in_boxes() const {
        return (static_cast<std::int32_t>(points.boxes.grid.x) + 2) / 3;
    }

    template <int Y, int Z>
    KRYLITH_HD void write(some_points& of) const {
        T sums[3][full_entries::count] = {}; // [place]; those that places don't have stay unused
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int z = -1; z <= 1; ++z) {
            if ((z < 0 && !of.below[1]) || (z > 0 && !of.above[1])) continue;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int y = -1; y <= 1; ++y) {
                if ((y < 0 && !of.below[0]) || (y > 0 && !of.above[0])) continue;
                add_line<Y, Z>(of, y, z, sums);
                for (int place = 0; place < 3; ++place)
                    of.begin[place] += of.there[place] + 1 + of.there[place + 2];
            }
        }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int entry = 0; entry < full_entries::count; ++entry) {
            if (!full_entries::has(Y, entry / 3 % 3 - 1) || !full_entries::has(Z, entry / 9 - 1))
                continue;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int place = 0; place < 3; ++place)
                if (full_entries::has(place, entry % 3 - 1) && of.owned[place])
                    rows(entry, of.row + place) = sums[place][entry];
        }
    }

    /// Adds what the neighbours in a line have.
    template <int Y, int Z>
    KRYLITH_HD void add_line(const some_points& of, int y, int z, T (&sums)[3][27]) const {
        line_values values{};
        std::int64_t first = 0; // the local column with no step from the first place
        for (int place = 0; place < 3; ++place) {
            if (!of.owned[place]) continue;
            first = b.indices[of.begin[place]] - place;
            for (int step = -1; step <= 1; ++step)
                if (of.there[place + step + 1])
                    values.b[place][step + 1] = b.values[of.begin[place] + step];
        }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int box_z = -1; box_z <= 1; ++box_z)
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int box_y = -1; box_y <= 1; ++box_y) {
                const int of_z = axis_term::of(Z, z, box_z);
                const int of_y = axis_term::of(Y, y, box_y);
                if (of_z == axis_term::none || of_y == axis_term::none) continue;
                read_p(of, first, of_y << 1 | of_z << 2, values);
                add(of, full_entries::of(0, box_y, box_z), values, sums);
            }
    }

    /// Reads the entries of P that owned places need, with these bits of y and z.
    KRYLITH_HD void read_p(const some_points& of, std::int64_t first, int bits,
                           line_values& values) const {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int step = -1; step <= 3; ++step) {
            const bool is_needed = (step <= 1 && of.owned[0]) ||
                                   (step >= 0 && step <= 2 && of.owned[1]) ||
                                   (step >= 1 && of.owned[2]);
            if (!is_needed || !of.there[step + 1]) continue;
            values.p[0][step + 1] = p(p_entries::of_axes(bits), first + step);
            if (step != 1) values.p[1][step + 1] = p(p_entries::of_axes(bits | 1), first + step);
        }
    }

    KRYLITH_HD void add(const some_points& of, int entry, const line_values& values,
                        T (&sums)[3][27]) const {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int place = 0; place < 3; ++place)
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int box = -1; box <= 1; ++box)
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
                for (int step = -1; step <= 1; ++step) {
                    const int term = axis_term::of(place, step, box);
                    if (term == axis_term::none || !of.there[place + step + 1]) continue;
                    T& sum = sums[place][entry + box];
                    sum = plus_product(sum, values.b[place][step + 1],
                                       values.p[term][place + step + 1]);
                }
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
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int z = -1; z <= 3; ++z) {
            if (!points.on[2].has(z)) continue;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
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
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int x = -1; x <= 3; ++x) {
            if (!on.has(x)) continue;
            const T factor = r.values[k + x];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
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
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
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
