#include <krylith/distributed/products/whole_matrix.hpp>

#include <utility>
#include <vector>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

/// Where the entries of ranks begin among all, [ranks + 1].
template <class T>
std::vector<std::int64_t> entries_begin(const distributed_csr<T>& a) {
    std::vector<std::int64_t> begin{0};
    for (const std::int64_t count : a.nonzeros_of()) begin.push_back(begin.back() + count);
    return begin;
}

} // namespace

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
    const std::vector<std::int64_t> before = entries_begin(a);
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
    std::vector<std::int64_t> begin = a.row_owners().begin;
    ++begin.back(); // the end of a rank is the next one's begin
    gather_to(to, comm, begin).fetch(pointers_of(shifted), only_on(comm, to, offsets.data()));
    gather_to(to, comm, before).fetch(pointers_of(global), only_on(comm, to, columns.data()));
    bring_values(to, a, values.data());
    bool ascends = true;
    for (const int rank : comm.local()) ascends = ascends && a.block(rank).ascends();
    ascends = !comm.any(!ascends);
    if (!comm.is_local(to)) return {};
    device_csr<T> whole(comm.handle(to), a.columns(), std::move(offsets), std::move(columns),
                        std::move(values));
    whole.set_ascending(ascends);
    return whole;
}

template <class T>
void bring_values(int to, const distributed_csr<T>& a, T* values) {
    gather_to(to, a.comm(), entries_begin(a)).fetch(a.values(), only_on(a.comm(), to, values));
}

#define KRYLITH_INSTANTIATE(T) template struct instances<whole_on<T>, bring_values<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
