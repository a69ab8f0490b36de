// Entries of rows of P, and of products, kept by kinds for the points of a grid: an entry's place
// follows from that of its point in its box, and no column is searched.
//
// Boxes have 2 points or more along each axis, fewer at the upper ends alone. A point at an end of
// its box reaches, along that axis, to the next box, if it is there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/sparse/device_csr.hpp>

namespace krylith::aggregation {

/// The side to which a point reaches along an axis, from its place in a box of so many; 0: none.
[[nodiscard]] KRYLITH_HD constexpr int reach(int place, int edge) {
    return place == 0 ? -1 : place + 1 == edge ? 1 : 0;
}

/// The entries of a row of P.
struct p_entries {
    static constexpr int own = 0;
    static constexpr int near = 1; ///< + axis: the box to which the point reaches
    static constexpr int star_count = 4;
    static constexpr int full_count = 8;

    /// That of the box to which the point reaches along the axes whose bits are set.
    [[nodiscard]] KRYLITH_HD static constexpr int of_axes(int bits) {
        return bits == 3 ? 4 : bits == 4 ? 3 : bits;
    }
    [[nodiscard]] static int count(grid_stencil stencil) {
        return stencil == grid_stencil::star ? star_count : full_count;
    }
};

/// Entries of the rows of points, those of one kind one after the other.
template <class T>
struct entry_arrays {
    T* data;
    std::int64_t stride;

    [[nodiscard]] KRYLITH_HD T& operator()(int entry, std::int64_t point) const {
        return data[entry * stride + point];
    }
};

/// So many entries for each local column of a matrix, on all ranks. `columns` must outlive it.
template <class T>
class column_entries {
public:
    column_entries(const communicator& comm, std::span<const local_columns> columns, int count)
        : comm_(comm), columns_(columns), count_(count), arrays_(by_rank(comm, [&](int rank) {
              return buffer<T>(comm.handle(rank), as_size(count * stride(rank)),
                               "product of a grid");
          })) {}

    [[nodiscard]] entry_arrays<const T> all(int rank) const {
        return {arrays_[as_size(rank)].data(), stride(rank)};
    }
    /// From the first owned column on.
    [[nodiscard]] entry_arrays<T> owned(int rank) {
        return {arrays_[as_size(rank)].data() + of(rank).first_owned(), stride(rank)};
    }
    /// Brings the entries of ghosts.
    void fill_ghosts() {
        const exchange ghosts = exchange_of_ghosts(comm_, columns_);
        for (int entry = 0; entry < count_; ++entry) {
            const std::vector<T*> arrays = by_rank(comm_, [&](int rank) {
                return arrays_[as_size(rank)].data() + entry * stride(rank);
            });
            if (entry + 1 < count_)
                ghosts.fetch_in_turn(arrays);
            else
                ghosts.fetch(arrays); // orders those before it, too
        }
    }

private:
    [[nodiscard]] const local_columns& of(int rank) const { return columns_[as_size(rank)]; }
    /// Entries of one kind begin at multiples of 128 bytes, and not at a power of two from others.
    [[nodiscard]] std::int64_t stride(int rank) const {
        return (of(rank).count() + 31) / 32 * 32 + 32 * 37;
    }

    communicator comm_;
    std::span<const local_columns> columns_;
    int count_;
    std::vector<buffer<T>> arrays_;
};

/// The points that a rank owns.
struct owned_points {
    grid_boxes boxes;
    std::int64_t first; ///< the number of the first

    struct place {
        int on[3];
    };
    [[nodiscard]] KRYLITH_HD place at(std::int64_t row) const {
        const grid_point point = boxes.grid.point_of(static_cast<std::int32_t>(first + row));
        return {{static_cast<int>(point.x), static_cast<int>(point.y), static_cast<int>(point.z)}};
    }
    [[nodiscard]] KRYLITH_HD bool has(const place& at, int axis, int step) const {
        const int to = at.on[axis] + step;
        return to >= 0 && to < boxes.grid.along(axis);
    }
};

/// Writes a point's row of P, 0 for boxes that are not there.
template <class T>
struct p_entries_task {
    owned_points points;
    device_csr_view<T> p;
    entry_arrays<T> entries; ///< from the first owned point on

    KRYLITH_HD void operator()(std::int64_t row) const {
        const owned_points::place at = points.at(row);
        const T* const of_row = p.values + p.offsets[row];
        if (points.boxes.stencil == grid_stencil::star)
            write_star(row, at, of_row);
        else
            write_full(row, at, of_row);
    }

private:
    [[nodiscard]] KRYLITH_HD int side(const owned_points::place& at, int axis) const {
        const int edge = points.boxes.edges[axis];
        return reach(at.on[axis] % edge, edge);
    }
    KRYLITH_HD void write_star(std::int64_t row, const owned_points::place& at,
                               const T* entry) const {
        for (int axis = 2; axis >= 0; --axis) write_near(row, at, axis, -1, entry);
        entries(p_entries::own, row) = *entry++;
        for (int axis = 0; axis < 3; ++axis) write_near(row, at, axis, 1, entry);
    }
    KRYLITH_HD void write_near(std::int64_t row, const owned_points::place& at, int axis, int step,
                               const T*& entry) const {
        if (side(at, axis) != step) return;
        entries(p_entries::near + axis, row) = points.has(at, axis, step) ? *entry++ : T(0);
    }
    KRYLITH_HD void write_full(std::int64_t row, const owned_points::place& at,
                               const T* of_row) const {
        int sides[3]; // 0 also where no box is there
        for (int axis = 0; axis < 3; ++axis) {
            const int to = side(at, axis);
            sides[axis] = points.has(at, axis, to) ? to : 0;
        }
        for (int bits = 0; bits < p_entries::full_count; ++bits) {
            bool there = true;
            int place = 0;
            for (int axis = 2; axis >= 0; --axis) {
                const bool reached = (bits >> axis & 1) != 0;
                if (sides[axis] == 0) {
                    there = there && !reached;
                } else {
                    place = 2 * place + (reached == (sides[axis] > 0) ? 1 : 0);
                }
            }
            entries(p_entries::of_axes(bits), row) = there ? of_row[place] : T(0);
        }
    }
};

/// Enqueues the entries of the rows of P, and of ghosts.
template <class T>
void write_p_entries(const grid_boxes& boxes, const distributed_csr<T>& p,
                     column_entries<T>& entries) {
    for (const int rank : p.comm().local())
        run_items(p.comm()[rank],
                  p_entries_task<T>{{boxes, p.row_owners().owned(rank).begin},
                                    p.block(rank).view(),
                                    entries.owned(rank)},
                  p.block(rank).rows());
    entries.fill_ghosts();
}

} // namespace krylith::aggregation
