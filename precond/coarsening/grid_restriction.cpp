#include <krylith/precond/coarsening/grid_restriction.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/grid_entries.hpp>
#include <krylith/precond/coarsening/grid_restriction_rows.hpp>

namespace krylith::aggregation {

template <class T>
distributed_csr<T> make_grid_restriction(const grid_boxes& boxes, const distributed_csr<T>& p) {
    const communicator& comm = p.comm();
    const row_partition& rows = p.column_owners();
    const row_partition& columns = p.row_owners();
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns_of(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const row_range own = rows.owned(rank);
        buffer<std::int64_t> offsets(device, as_size(own.size() + 1), "offsets of a matrix");
        add_up_sizes(device, own.size(), restricted_row_size{boxes, own.begin}, offsets.data());
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + own.size(), sizeof entries);
        buffer<std::int32_t> numbers(device, as_size(entries), "columns of a matrix");
        const restricted_lines lines{boxes, boxes.shape(), own.begin, offsets.data()};
        run_items(*device, restricted_columns_task{lines, numbers.data()}, lines.count(own.size()));
        columns_of[as_size(rank)] =
            comm.ranks() == 1
                ? local_columns(device, columns.owned(rank), {})
                : number_columns(device, columns.owned(rank), columns.rows(), numbers).value();
        blocks[as_size(rank)] = {device, columns_of[as_size(rank)].count(), std::move(offsets),
                                 std::move(numbers),
                                 buffer<T>(device, as_size(entries), "values of a matrix")};
        blocks[as_size(rank)].set_ascending(true);
    });
    distributed_csr<T> r(comm, rows, columns, std::move(blocks), std::move(columns_of));
    refresh_grid_restriction(boxes, p, r);
    return r;
}

template <class T>
void refresh_grid_restriction(const grid_boxes& boxes, const distributed_csr<T>& p,
                              distributed_csr<T>& r) {
    const communicator& comm = p.comm();
    column_entries<T> entries(comm, r.all_columns(), p_entries::count(boxes.stencil));
    const settled_on_failure settled(comm); // before arrays are freed
    write_p_entries(boxes, p, entries);
    for (const int rank : comm.local()) {
        const device_csr_view<T> rows = r.block(rank).view();
        const restricted_lines lines{boxes, boxes.shape(), r.row_owners().owned(rank).begin,
                                     rows.offsets};
        run_items(comm[rank],
                  restricted_values_task<T>{lines, rows.indices, entries.all(rank),
                                            r.block(rank).values()},
                  lines.count(rows.rows));
    }
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> make_grid_restriction(const grid_boxes&,                           \
                                                      const distributed_csr<T>&);                  \
    template void refresh_grid_restriction(const grid_boxes&, const distributed_csr<T>&,           \
                                           distributed_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
