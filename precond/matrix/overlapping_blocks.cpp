#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/matrix/overlapping_blocks.hpp>

#include <span>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/ghost_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/matrix/matrix_on_devices.hpp>
#include <krylith/precond/matrix/memory_item.hpp>
#include <krylith/precond/matrix/overlap_steps.hpp>

namespace krylith::detail {

namespace {

/// The rows of some columns on each rank, with global columns.
template <class T>
struct fetched_rows {
    std::vector<buffer<std::int64_t>> offsets;
    std::vector<buffer<std::int32_t>> columns;
    std::vector<buffer<T>> values;
};

template <class V>
void fetch(const ghost_rows& rows, const communicator& comm, const std::vector<const V*>& from,
           std::vector<buffer<V>>& to) {
    to = by_rank(comm, [&](int rank) {
        return buffer<V>(comm.handle(rank), as_size(rows.entries(rank)), precond_item);
    });
    const auto arrays = by_rank(comm, [&](int rank) { return to[as_size(rank)].data(); });
    rows.fetch(from, arrays);
}

template <class T>
fetched_rows<T> fetch_rows(const distributed_csr<T>& a, std::span<const local_columns> rows,
                           bool with_values) {
    const communicator& comm = a.comm();
    const auto offsets = by_rank(comm, [&](int rank) { return a.block(rank).view().offsets; });
    const auto global = by_rank(comm, [&](int rank) { return a.global_columns(rank); });
    const auto columns = by_rank(
        comm, [&](int rank) -> const std::int32_t* { return global[as_size(rank)].data(); });
    ghost_rows messages(comm, rows, offsets);
    fetched_rows<T> result;
    fetch(messages, comm, columns, result.columns);
    if (with_values) fetch(messages, comm, a.values(), result.values);
    result.offsets = by_rank(comm, [&](int rank) { return messages.take_offsets(rank); });
    comm.synchronize(); // before the messages and the global columns are freed
    return result;
}

/// The entries in the columns of `rows`, with local columns.
template <class T>
device_csr<T> cut(const std::shared_ptr<device>& device, const local_columns& rows,
                  const buffer<std::int64_t>& offsets, const buffer<std::int32_t>& columns,
                  const buffer<T>& values) {
    const std::int64_t count = rows.count();
    const std::int64_t mean =
        count == 0 ? 0 : (static_cast<std::int64_t>(columns.size()) + count - 1) / count;
    const cut_rows given{offsets.data(), columns.data(), rows.numbers()};
    buffer<std::int64_t> starts(device, as_size(count) + 1, precond_item);
    const buffer<std::int32_t> counts(device, as_size(count), precond_item);
    visit_rows(*device, count, mean, count_staying_step{given, counts.data()});
    add_up_sizes(device, count, counts.data(), starts.data());
    std::int64_t entries = 0;
    device->download(&entries, starts.data() + count, sizeof entries);
    buffer<std::int32_t> indices(device, as_size(entries), precond_item);
    buffer<T> kept(device, as_size(entries), precond_item);
    visit_rows(
        *device, count, 1,
        keep_staying_step<T>{{}, given, values.data(), starts.data(), indices.data(), kept.data()});
    device->synchronize(); // before what was given is freed
    return {device, count, std::move(starts), std::move(indices), std::move(kept)};
}

} // namespace

template <class T>
overlapping_blocks<T> make_overlapping_blocks(const distributed_csr<T>& matrix, int overlap) {
    const communicator& comm = matrix.comm();
    overlapping_blocks<T> result;
    if (overlap > 0)
        result.rows.assign(matrix.all_columns().begin(), matrix.all_columns().end());
    else
        result.rows = by_rank(comm, [&](int rank) {
            return local_columns(comm.handle(rank), matrix.row_owners().owned(rank), {});
        });
    for (int step = 1; step < overlap; ++step) {
        const fetched_rows<T> around = fetch_rows(matrix, result.rows, false);
        on_each_rank(comm, [&](int rank) {
            local_columns& rows = result.rows[as_size(rank)];
            rows = number_columns(comm.handle(rank), rows.owned(), matrix.columns(),
                                  around.columns[as_size(rank)])
                       .value();
        });
    }
    fetched_rows<T> all = fetch_rows(matrix, result.rows, true);
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const std::size_t at = as_size(rank);
        blocks[at] = cut(comm.handle(rank), result.rows[at], all.offsets[at], all.columns[at],
                         all.values[at]);
        all.columns[at] = {};
        all.values[at] = {};
    });
    result.matrices = by_rank(
        comm, [&](int rank) { return alone_on(comm, rank, std::move(blocks[as_size(rank)])); });
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template overlapping_blocks<T> make_overlapping_blocks(const distributed_csr<T>&, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
