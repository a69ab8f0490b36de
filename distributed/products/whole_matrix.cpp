#include <krylith/distributed/products/whole_matrix.hpp>

#include <algorithm>
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
    const auto& device = comm.handle(to);
    const std::size_t nonzeros = as_size(a.nonzeros());
    buffer<std::int64_t> offsets(device, as_size(a.rows()) + 1, matrix_item);
    buffer<std::int32_t> columns(device, nonzeros, matrix_item);
    buffer<T> values(device, nonzeros, matrix_item);
    std::vector<buffer<std::int64_t>> shifted;
    std::vector<buffer<std::int32_t>> global;
    const settled_on_failure settled(comm); // before these are freed
    std::int64_t before = 0;
    bool ascends = true;
    for (const int rank : comm.local()) {
        const device_csr_view<T> rows = a.block(rank).view();
        shifted.emplace_back(comm.handle(rank), as_size(rows.rows) + 1, matrix_item);
        run_items(comm[rank],
                  shift_offsets<std::int64_t>{rows.offsets, before, shifted.back().data()},
                  rows.rows + 1);
        global.push_back(a.global_columns(rank));
        before += rows.nonzeros;
        ascends = ascends && a.block(rank).ascends();
    }
    comm.join();
    before = 0;
    for (const int rank : comm.local()) {
        const bool last = rank + 1 == comm.ranks(); // the end of a rank is the next one's begin
        const row_range rows = a.row_owners().owned(rank);
        comm.copy(rank, shifted[as_size(rank)].data(), to, offsets.data() + rows.begin,
                  as_size(rows.size() + (last ? 1 : 0)) * sizeof(std::int64_t));
        const auto& numbers = global[as_size(rank)];
        comm.copy(rank, numbers.data(), to, columns.data() + before,
                  numbers.size() * sizeof(std::int32_t));
        before += a.block(rank).nonzeros();
    }
    bring_values(to, a, values.data());
    device_csr<T> whole(device, a.columns(), std::move(offsets), std::move(columns),
                        std::move(values));
    whole.set_ascending(ascends);
    return whole;
}

template <class T>
void bring_values(int to, const distributed_csr<T>& a, T* values) {
    const communicator& comm = a.comm();
    const settled_on_failure settled(comm);
    comm.join();
    for (const int rank : comm.local()) {
        const device_csr_view<T> rows = a.block(rank).view();
        comm.copy(rank, rows.values, to, values, as_size(rows.nonzeros) * sizeof(T));
        values += rows.nonzeros;
    }
    comm.join();
}

#define KRYLITH_INSTANTIATE(T) template struct instances<whole_on<T>, bring_values<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
