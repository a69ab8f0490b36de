#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/coarsening/node_matrix.hpp>

#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/node_steps.hpp>

namespace krylith::aggregation {

template <class T>
distributed_csr<T> make_node_matrix(const distributed_csr<T>& a, int block) {
    const communicator& comm = a.comm();
    row_partition owners = a.row_owners();
    for (std::int64_t& begin : owners.begin) begin /= block;
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns_of(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::int64_t nodes = owners.owned(rank).size();
        const device_csr_view<T> view = a.block(rank).view();
        const node_rows rows{rows_of(a, rank), {}, block};
        buffer<std::int64_t> offsets(device, as_size(nodes + 1), memory_item);
        const buffer<std::uint8_t> dense(device, as_size(nodes), memory_item);
        // Lanes share a node: as many as for the entries of one of its rows.
        const std::int64_t mean = mean_entries(a, rank);
        {
            const buffer<std::int32_t> counts(device, as_size(nodes), memory_item);
            visit_rows(*device, nodes, mean, count_blocks_step{rows, dense.data(), counts.data()});
            add_up_sizes(device, nodes, counts.data(), offsets.data());
        }
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + nodes, sizeof entries);
        buffer<std::int32_t> columns(device, as_size(entries), memory_item);
        buffer<T> norms(device, as_size(entries), memory_item);
        visit_rows(*device, nodes, mean / block,
                   fill_blocks_step<T>{rows, view.values, dense.data(), offsets.data(),
                                       columns.data(), norms.data()});
        columns_of[as_size(rank)] =
            comm.ranks() == 1
                ? local_columns(device, owners.owned(rank), {})
                : number_columns(device, owners.owned(rank), owners.rows(), columns).value();
        blocks[as_size(rank)] = {device, columns_of[as_size(rank)].count(), std::move(offsets),
                                 std::move(columns), std::move(norms)};
    });
    return {comm, owners, owners, std::move(blocks), std::move(columns_of)};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> make_node_matrix(const distributed_csr<T>&, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
