// Matrices whose rows have the columns of two matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/running_sums.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/merged_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

/// The rows of a rank of A and B.
template <class T>
[[nodiscard]] merged_rows rows_of_both(const distributed_csr<T>& a, const distributed_csr<T>& b,
                                       int rank) {
    const auto rows = [&](const distributed_csr<T>& m) {
        const device_csr_view<T> view = m.block(rank).view();
        return ascending_rows{view.offsets, view.indices, m.columns_of(rank).numbers()};
    };
    return {rows(a), rows(b)};
}

/// Returns a matrix with the union of the patterns of A and B, which have the same partitions, and
/// whose columns ascend. fill(rank, rows, entries) enqueues its columns and values. Nothing
/// travels: ghosts are those of both. Waits for the devices. Collective.
template <class T, class Fill>
[[nodiscard]] distributed_csr<T> merge(const distributed_csr<T>& a, const distributed_csr<T>& b,
                                       const Fill& fill) {
    const communicator& comm = a.comm();
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        std::vector<std::int64_t> ghosts;
        std::ranges::set_union(a.columns_of(rank).ghosts(), b.columns_of(rank).ghosts(),
                               std::back_inserter(ghosts));
        check_index_size("add: the number of columns of a rank, ghosts included,",
                         a.column_owners().owned(rank).size() +
                             static_cast<std::int64_t>(ghosts.size()));
        local_columns numbers(device, a.column_owners().owned(rank), std::move(ghosts));
        const merged_rows rows = rows_of_both(a, b, rank);
        const std::int64_t count = a.block(rank).rows();
        buffer<std::int64_t> offsets(device, as_size(count + 1), "offsets of a matrix");
        {
            const buffer<std::int32_t> counts(device, as_size(count), "set-up of a matrix");
            visit_rows(*device, count, 1, count_merged_step{{}, rows, counts.data()});
            add_up_sizes(device, count, counts.data(), offsets.data());
        }
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + count, sizeof entries);
        buffer<std::int32_t> indices(device, as_size(entries), "columns of a matrix");
        buffer<T> values(device, as_size(entries), "values of a matrix");
        fill(rank, rows,
             merged_entries<T>{offsets.data(), numbers.numbers(), indices.data(), values.data()});
        blocks[as_size(rank)] = {device, numbers.count(), std::move(offsets), std::move(indices),
                                 std::move(values)};
        columns[as_size(rank)] = std::move(numbers);
    });
    return {comm, a.row_owners(), a.column_owners(), std::move(blocks), std::move(columns)};
}

} // namespace krylith
