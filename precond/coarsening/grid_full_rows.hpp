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

/// Along an axis, which entries of the rows of steps -1 .. 1 from a point make the entry of a box
/// at -1 .. 1 from its own.
class axis_terms {
public:
    static constexpr int own = 0;  ///< of the box that the neighbour is in
    static constexpr int near = 1; ///< of the box that it reaches to
    static constexpr int none = 3;

    KRYLITH_HD constexpr explicit axis_terms(int place) {
        for (int box = -1; box <= 1; ++box)
            for (int step = -1; step <= 1; ++step)
                bits_ |= static_cast<std::uint32_t>(term(place, box, step)) << bit_of(box, step);
    }
    [[nodiscard]] KRYLITH_HD constexpr int operator()(int box, int step) const {
        return static_cast<int>(bits_ >> bit_of(box, step) & 3);
    }

private:
    [[nodiscard]] KRYLITH_HD static constexpr int bit_of(int box, int step) {
        return 2 * (3 * (box + 1) + step + 1);
    }
    [[nodiscard]] KRYLITH_HD static constexpr int term(int place, int box, int step) {
        const int to = place + step;
        const int box_of_it = to < 0 ? -1 : to / 3;
        const int side = reach(to - 3 * box_of_it, 3);
        if (box == box_of_it) return own;
        return side != 0 && box == box_of_it + side ? near : none;
    }

    std::uint32_t bits_ = 0;
};

/// The entries of a point's row of B P by their boxes, at -1 .. 1 along each axis from its own.
struct full_entries {
    static constexpr int count = 27;
    [[nodiscard]] KRYLITH_HD static int of(int x, int y, int z) {
        return 9 * (z + 1) + 3 * (y + 1) + x + 1;
    }
    /// Whether the row of a point at a place in its box has such an entry along an axis, if the box
    /// is there.
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
        const axis of[3] = {axis_at(at, 0), axis_at(at, 1), axis_at(at, 2)};
        T values[full_entries::count]; // a thread's own copy: it reads each about five times
        const T* const from = b.values + b.offsets[row];
        const int entries = of[0].steps() * of[1].steps() * of[2].steps();
        for (int k = 0; k < entries; ++k) values[k] = from[k];
        for (int z = of[2].first_box; z <= of[2].last_box; ++z)
            for (int y = of[1].first_box; y <= of[1].last_box; ++y)
                for (int x = of[0].first_box; x <= of[0].last_box; ++x)
                    rows(full_entries::of(x, y, z), row) =
                        sum(b.indices + b.offsets[row], values, of, x, y, z);
    }

private:
    struct axis {
        axis_terms terms;
        int first; ///< steps to neighbours
        int last;
        int first_box;
        int last_box;

        [[nodiscard]] KRYLITH_HD int steps() const { return last - first + 1; }
    };
    [[nodiscard]] KRYLITH_HD axis axis_at(const owned_points::place& at, int axis) const {
        const int place = at.on[axis] % 3;
        const int box = at.on[axis] / 3;
        const bool below = full_entries::has(place, -1) && box > 0;
        const bool above =
            full_entries::has(place, 1) && 3 * (box + 1) < points.boxes.grid.along(axis);
        constexpr axis_terms of_places[3] = {axis_terms(0), axis_terms(1), axis_terms(2)};
        return {place == 0   ? of_places[0]
                : place == 1 ? of_places[1]
                             : of_places[2],
                points.has(at, axis, -1) ? -1 : 0, points.has(at, axis, 1) ? 1 : 0, below ? -1 : 0,
                above ? 1 : 0};
    }
    [[nodiscard]] KRYLITH_HD T sum(const std::int32_t* columns, const T* values, const axis* of,
                                   int box_x, int box_y, int box_z) const {
        int k = -of[0].first; // of step 0 in the first line
        T sum = 0;
        for (int z = of[2].first; z <= of[2].last; ++z)
            for (int y = of[1].first; y <= of[1].last; ++y, k += of[0].steps()) {
                const int term_z = of[2].terms(box_z, z);
                const int term_y = of[1].terms(box_y, y);
                if (term_z == axis_terms::none || term_y == axis_terms::none) continue;
                const std::int64_t j = columns[k];
                for (int x = of[0].first; x <= of[0].last; ++x) {
                    const int term_x = of[0].terms(box_x, x);
                    if (term_x == axis_terms::none) continue;
                    const int entry = p_entries::of_axes(term_x | term_y << 1 | term_z << 2);
                    sum = plus_product(sum, values[k + x], p(entry, j + x));
                }
            }
        return sum;
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

/// Writes up to three entries of a box's row of R (B P), those of boxes in a line along x.
/// Neighbouring items are the same entries of neighbouring boxes, and the 9 items of each of 32
/// boxes follow one another.
template <class T>
struct full_box_rows_task {
    grid_boxes boxes;
    std::int64_t first; ///< box of the rank
    std::int64_t count; ///< boxes of the rank
    device_csr_view<T> r;
    entry_arrays<const T> rows; ///< of B P, by the local columns of R
    const std::int64_t* offsets;
    std::int32_t* columns; ///< global ones; null: they are there
    T* values;

    static constexpr int together = 32;
    static constexpr int lines = 9;
    [[nodiscard]] std::int64_t items() const {
        return (count + together - 1) / together * together * lines;
    }

    KRYLITH_HD void operator()(std::int64_t item) const {
        const std::int64_t some = item / (together * lines);
        const auto of_some = static_cast<int>(item - some * together * lines);
        const std::int64_t row = some * together + of_some % together;
        if (row >= count) return;
        const int y = of_some / together % 3 - 1;
        const int z = of_some / together / 3 - 1;
        const grid_shape shape = boxes.shape();
        const grid_point at = shape.point_of(static_cast<std::int32_t>(first + row));
        const neighbour_boxes on[3] = {{at.x, shape.x}, {at.y, shape.y}, {at.z, shape.z}};
        if (!on[1].has(y) || !on[2].has(z)) return;
        T sums[3] = {}; // of the boxes at -1, 0 and 1 along x
        add(row, on[0], y, z, sums);
        std::int64_t to =
            offsets[row] + ((z - on[2].first) * on[1].size() + y - on[1].first) * on[0].size();
        const auto in_line = static_cast<std::int32_t>(shape.x);
        const std::int32_t own =
            shape.number_of(at) + y * in_line + z * in_line * static_cast<std::int32_t>(shape.y);
        for (int x = -1; x <= 1; ++x) {
            if (!on[0].has(x)) continue;
            if (columns != nullptr) columns[to] = own + x;
            values[to++] = sums[x + 1];
        }
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
    KRYLITH_HD void add(std::int64_t row, const neighbour_boxes& there, int box_y, int box_z,
                        T* sums) const {
        const restricted_points points(boxes, first + row);
        const box_span* const on = points.on;
        std::int64_t k = r.offsets[row] - on[0].first; // of step 0 in the first line
        for (int z = on[2].first; z < on[2].end; ++z)
            for (int y = on[1].first; y < on[1].end; ++y, k += on[0].size()) {
                const int entry_z = entry_of(z, box_z);
                const int entry_y = entry_of(y, box_y);
                if (entry_z == 2 || entry_y == 2) continue;
                const std::int64_t i = r.indices[k];
                const int entry = full_entries::of(0, entry_y, entry_z);
                add_point<-1>(on[0], there, k, entry, i, sums);
                add_point<0>(on[0], there, k, entry, i, sums);
                add_point<1>(on[0], there, k, entry, i, sums);
                add_point<2>(on[0], there, k, entry, i, sums);
                add_point<3>(on[0], there, k, entry, i, sums);
            }
    }
    /// Adds what a point of a line has of the three boxes.
    template <int X>
    KRYLITH_HD void add_point(const box_span& on, const neighbour_boxes& there, std::int64_t k,
                              int entry, std::int64_t i, T* sums) const {
        if (!on.has(X)) return;
        const T factor = r.values[k + X];
        for (int box = -1; box <= 1; ++box)
            if (const int from_it = entry_of(X, box); from_it != 2 && there.has(box))
                sums[box + 1] = plus_product(sums[box + 1], factor, rows(entry + from_it, i + X));
    }
};

} // namespace krylith::aggregation
