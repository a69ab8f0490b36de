#include <krylith/precond/coarsening/grid_product.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/grid_box_rows.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/precond/coarsening/grid_full_rows.hpp>
#include <krylith/precond/coarsening/grid_point_rows.hpp>

namespace krylith::aggregation {

namespace {

/// Enqueues the rows of B P by the columns of R.
template <class T>
column_entries<T> point_rows(const grid_boxes& boxes, const distributed_csr<T>& r,
                             const distributed_csr<T>& b, const distributed_csr<T>& p) {
    const communicator& comm = b.comm();
    const bool star = boxes.stencil == grid_stencil::star;
    column_entries<T> of_p(comm, b.all_columns(), p_entries::count(boxes.stencil));
    column_entries<T> rows(comm, r.all_columns(),
                           star ? point_entries::count : full_entries::count);
    const settled_on_failure settled(comm); // before arrays are freed
    write_p_entries(boxes, p, of_p);
    for (const int rank : comm.local()) {
        const owned_points points{boxes, b.row_owners().owned(rank).begin};
        const device_csr_view<T> of_b = b.block(rank).view();
        if (star)
            run_items(comm[rank],
                      point_rows_task<T>{points, of_b, of_p.all(rank), rows.owned(rank)},
                      of_b.rows);
        else
            run_items(comm[rank],
                      full_point_rows_task<T>{points, of_b, of_p.all(rank), rows.owned(rank)},
                      of_b.rows);
    }
    rows.fill_ghosts();
    return rows;
}

void add_up_rows(const std::shared_ptr<device>& device, const grid_boxes& boxes, row_range own,
                 std::int64_t* offsets) {
    if (boxes.stencil == grid_stencil::star)
        add_up_sizes(device, own.size(), coarse_row_size{boxes.shape(), own.begin}, offsets);
    else
        add_up_sizes(device, own.size(), full_row_size{boxes.shape(), own.begin}, offsets);
}

/// Enqueues the rows of the boxes of a rank, with their columns unless these are null.
template <class T>
void write_rows(device& device, const grid_boxes& boxes, row_range own, const device_csr_view<T>& r,
                const entry_arrays<const T>& rows, const std::int64_t* offsets,
                std::int32_t* columns, T* values) {
    if (boxes.stencil == grid_stencil::star)
        return run_items(device,
                         box_row_task<T>{boxes, own.begin, r, rows, offsets, columns, values},
                         own.size());
    run_items(device, full_box_rows_task<T>{boxes, own.begin, r, rows, offsets, columns, values},
              own.size());
}

} // namespace

template <class T>
distributed_csr<T> make_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r,
                                     const distributed_csr<T>& b, const distributed_csr<T>& p) {
    const communicator& comm = b.comm();
    const row_partition& owners = r.row_owners();
    const column_entries<T> rows = point_rows(boxes, r, b, p);
    const settled_on_failure settled(comm); // before arrays are freed
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns_of(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const row_range own = owners.owned(rank);
        buffer<std::int64_t> offsets(device, as_size(own.size() + 1), "offsets of a matrix");
        add_up_rows(device, boxes, own, offsets.data());
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + own.size(), sizeof entries);
        buffer<std::int32_t> columns(device, as_size(entries), "columns of a matrix");
        buffer<T> values(device, as_size(entries), "values of a matrix");
        write_rows(*device, boxes, own, r.block(rank).view(), rows.all(rank), offsets.data(),
                   columns.data(), values.data());
        columns_of[as_size(rank)] =
            comm.ranks() == 1 ? p.columns_of(rank)
                              : number_columns(device, own, owners.rows(), columns).value();
        blocks[as_size(rank)] = {device, columns_of[as_size(rank)].count(), std::move(offsets),
                                 std::move(columns), std::move(values)};
        blocks[as_size(rank)].set_ascending(true);
    });
    return {comm, owners, owners, std::move(blocks), std::move(columns_of)};
}

template <class T>
void refresh_grid_product(const grid_boxes& boxes, const distributed_csr<T>& r,
                          const distributed_csr<T>& b, const distributed_csr<T>& p,
                          distributed_csr<T>& product) {
    const column_entries<T> rows = point_rows(boxes, r, b, p);
    for (const int rank : b.comm().local())
        write_rows(b.comm()[rank], boxes, r.row_owners().owned(rank), r.block(rank).view(),
                   rows.all(rank), product.block(rank).view().offsets,
                   static_cast<std::int32_t*>(nullptr), product.block(rank).values());
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> make_grid_product(const grid_boxes&, const distributed_csr<T>&,    \
                                                  const distributed_csr<T>&,                       \
                                                  const distributed_csr<T>&);                      \
    template void refresh_grid_product(const grid_boxes&, const distributed_csr<T>&,               \
                                       const distributed_csr<T>&, const distributed_csr<T>&,       \
                                       distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
