#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/coarsening/mirrored_matrix.hpp>

#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/mirror_steps.hpp>

namespace krylith::aggregation {

namespace {

/// Enqueues the step that fills a rank's rows. One lane merges a row.
template <class T>
void fill(const distributed_csr<T>& a, const distributed_csr<T>& transposed, int rank, bool largest,
          const std::int64_t* offsets, std::int32_t* columns, T* to) {
    visit_rows(a.comm()[rank], a.block(rank).rows(), 1,
               fill_mirror_step<T>{{},
                                   {rows_of(a, rank), rows_of(transposed, rank)},
                                   a.block(rank).view().values,
                                   transposed.block(rank).view().values,
                                   largest,
                                   offsets,
                                   columns,
                                   to});
}

template <class T>
distributed_csr<T> union_of(const distributed_csr<T>& a, const distributed_csr<T>& transposed) {
    const communicator& comm = a.comm();
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::int64_t rows = a.block(rank).rows();
        buffer<std::int64_t> offsets(device, as_size(rows + 1), "offsets of a matrix");
        {
            const buffer<std::int32_t> counts(device, as_size(rows), memory_item);
            visit_rows(*device, rows, 1,
                       count_mirror_step{
                           {}, {rows_of(a, rank), rows_of(transposed, rank)}, counts.data()});
            add_up_sizes(device, rows, counts.data(), offsets.data());
        }
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + rows, sizeof entries);
        buffer<std::int32_t> indices(device, as_size(entries), "columns of a matrix");
        buffer<T> values(device, as_size(entries), "values of a matrix");
        fill(a, transposed, rank, true, offsets.data(), indices.data(), values.data());
        const row_range owned = a.column_owners().owned(rank);
        columns[as_size(rank)] = comm.ranks() == 1
                                     ? local_columns(device, owned, {})
                                     : number_columns(device, owned, a.columns(), indices).value();
        blocks[as_size(rank)] = {device, columns[as_size(rank)].count(), std::move(offsets),
                                 std::move(indices), std::move(values)};
    });
    return {comm, a.row_owners(), a.column_owners(), std::move(blocks), std::move(columns)};
}

} // namespace

template <class T>
mirrored_matrix<T>::mirrored_matrix(const distributed_csr<T>& a)
    : transposition_(a), transposed_(transposition_.take(a)), matrix_(union_of(a, transposed_)) {}

template <class T>
void mirrored_matrix<T>::take_transposed(const distributed_csr<T>& a) {
    transposition_.apply(a, transposed_);
    for (const int rank : a.comm().local())
        fill<T>(a, transposed_, rank, false, matrix_.block(rank).view().offsets, nullptr,
                matrix_.block(rank).values());
}

#define KRYLITH_INSTANTIATE(T) template class mirrored_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
