#include <krylith/distributed/products/whole_matrix.hpp>

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <krylith/comm/local/settled_on_failure.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

template <class T>
device_csr<T> whole_on(int to, const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns;
    buffer<T> values;
    if (comm.is_local(to)) {
        offsets = {comm.handle(to), as_size(a.rows() + 1), matrix_item};
        columns = {comm.handle(to), as_size(a.nonzeros()), matrix_item};
        values = {comm.handle(to), as_size(a.nonzeros()), matrix_item};
    }
    std::int64_t* const to_offsets = comm.address(to, offsets.data());
    std::int32_t* const to_columns = comm.address(to, columns.data());
    std::vector<std::int64_t> before{0};
    for (const std::int64_t count : a.nonzeros_of()) before.push_back(before.back() + count);
    const settled_on_failure settled(comm); // before these are freed
    const auto shifted = by_rank(comm, [&](int rank) {
        const device_csr_view<T> rows = a.block(rank).view();
        buffer<std::int64_t> result(comm.handle(rank), as_size(rows.rows) + 1, matrix_item);
        run_items(comm[rank],
                  shift_offsets<std::int64_t>{rows.offsets, before[as_size(rank)], result.data()},
                  rows.rows + 1);
        return result;
    });
    const auto global = by_rank(comm, [&](int rank) { return a.global_columns(rank); });
    bool ascends = true;
    comm.join();
    for (const int rank : comm.local()) {
        const bool last = rank + 1 == comm.ranks(); // the end of a rank is the next one's begin
        const row_range rows = a.row_owners().owned(rank);
        comm.copy(rank, shifted[as_size(rank)].data(), to, to_offsets + rows.begin,
                  as_size(rows.size() + (last ? 1 : 0)) * sizeof(std::int64_t));
        const auto& numbers = global[as_size(rank)];
        comm.copy(rank, numbers.data(), to, to_columns + before[as_size(rank)],
                  numbers.size() * sizeof(std::int32_t));
        ascends = ascends && a.block(rank).ascends();
    }
    bring_values(to, a, values.data());
    ascends = !comm.any(!ascends);
    if (!comm.is_local(to)) return {};
    device_csr<T> whole(comm.handle(to), a.columns(), std::move(offsets), std::move(columns),
                        std::move(values));
    whole.set_ascending(ascends);
    return whole;
}

template <class T>
void bring_values(int to, const distributed_csr<T>& a, T* values) {
    const communicator& comm = a.comm();
    values = comm.address(to, values);
    const settled_on_failure settled(comm);
    comm.join();
    for (const int rank : comm.local()) {
        const device_csr_view<T> rows = a.block(rank).view();
        const auto first = a.nonzeros_of().begin();
        comm.copy(rank, rows.values, to,
                  values + std::accumulate(first, first + rank, std::int64_t{0}),
                  as_size(rows.nonzeros) * sizeof(T));
    }
    comm.join();
}

#define KRYLITH_INSTANTIATE(T) template struct instances<whole_on<T>, bring_values<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
