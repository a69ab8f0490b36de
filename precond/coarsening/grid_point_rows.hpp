// Rows of B P at the points of a grid, where B has the points next to a point along three axes and
// boxes have 2 x 2 x 2 points.
//
// A point has, along each axis, one neighbour in its own box and one, on the side that it reaches
// to, in the next box, if they are there. Its row of P has its own box and the three that it
// reaches to. Its row of B P has these, the three on the other sides, and for each two axes the box
// that it reaches to along both.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/kernel/unroll.hpp>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// The entries of a row of B P.
struct point_entries {
    static constexpr int own = 0;
    static constexpr int near = 1; ///< + axis: on the side that the point reaches to
    static constexpr int far = 4;  ///< + axis: on the other side
    static constexpr int both = 7; ///< + the axis that is left out
    static constexpr int count = 10;
};

/// Writes a point's row of B P.
template <class T>
struct point_rows_task {
    owned_points points;
    device_csr_view<T> b;
    entry_arrays<const T> p; ///< by the local columns of B
    entry_arrays<T> rows;    ///< from the first owned point on

    KRYLITH_HD void operator()(std::int64_t row) const {
        const owned_points::place at = points.at(row);
        T sums[point_entries::count] = {};
        std::int64_t k = b.offsets[row];
        KRYLITH_UNROLL
        for (int axis = 2; axis >= 0; --axis)
            if (points.has(at, axis, -1)) add_next(at, axis, -1, k++, sums);
        add_own(k++, sums);
        KRYLITH_UNROLL
        for (int axis = 0; axis < 3; ++axis)
            if (points.has(at, axis, 1)) add_next(at, axis, 1, k++, sums);
        for (int entry = 0; entry < point_entries::count; ++entry) rows(entry, row) = sums[entry];
    }

private:
    KRYLITH_HD void add_own(std::int64_t k, T* sums) const {
        const T value = b.values[k];
        for (int entry = 0; entry < p_entries::star_count; ++entry)
            sums[entry] = plus_product(sums[entry], value, p(entry, b.indices[k]));
    }
    /// Adds what the neighbour along an axis has.
    KRYLITH_HD void add_next(const owned_points::place& at, int axis, int step, std::int64_t k,
                             T* sums) const {
        const T value = b.values[k];
        const std::int64_t next = b.indices[k];
        const auto add = [&](int entry, int of_next) {
            sums[entry] = plus_product(sums[entry], value, p(of_next, next));
        };
        const bool is_near = reach(at.on[axis] % 2, 2) == step;
        const T own = p(p_entries::own, next);
        const T beyond = p(p_entries::near + axis, next);
        T& to_own = sums[point_entries::own];
        to_own = plus_product(to_own, value, is_near ? beyond : own);
        T& to_next = is_near ? sums[point_entries::near + axis] : sums[point_entries::far + axis];
        to_next = plus_product(to_next, value, is_near ? own : beyond);
        for (int other = 0; other < 3; ++other)
            if (other != axis)
                add(is_near ? point_entries::both + 3 - axis - other : point_entries::near + other,
                    p_entries::near + other);
    }
};

} // namespace krylith::aggregation
