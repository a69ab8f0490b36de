#include <krylith/distributed/distributed_assembly.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/distributed/source/device_assembly.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/partition_check.hpp>
#include <krylith/distributed/source/read_there.hpp>
#include <krylith/matrix/coo_assembly.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

std::string entries_of(int rank) {
    return "distributed_assembly: part " + std::to_string(rank) + ": ";
}

/// Checks what can be checked before the entries are read.
template <class T>
void check_part(device& device, int rank, const coo_part<T>& part) {
    if (part.rows < 0 || part.entries < 0)
        throw usage_error(entries_of(rank) + std::to_string(part.rows) + " rows and " +
                          std::to_string(part.entries) + " entries, allowed are 0 and more");
    if (part.entries > index_limit)
        throw input_error(entries_of(rank) + std::to_string(part.entries) +
                          " entries, allowed on a device are at most " +
                          std::to_string(index_limit));
    if (part.entries == 0) return;
    check_readable(device, entries_of(rank), part.row_indices, "row_indices");
    check_readable(device, entries_of(rank), part.column_indices, "column_indices");
    check_readable(device, entries_of(rank), part.values, "values");
}

/// Sorts entries on the host, with rows counted from the first one of the part. Throws input_error
/// that names the first entry that is out of range.
template <class T>
coo_assembly assemble(device& device, int rank, const coo_part<T>& part, row_range own,
                      std::int64_t all_columns) {
    const auto entries = as_size(part.entries);
    std::vector<std::int32_t> rows(entries);
    std::vector<std::int32_t> columns(entries);
    if (entries != 0) {
        device.download(rows.data(), part.row_indices, entries * sizeof(std::int32_t));
        device.download(columns.data(), part.column_indices, entries * sizeof(std::int32_t));
    }
    for (std::size_t k = 0; k < entries; ++k) {
        if (rows[k] < 0 || columns[k] < 0) {
            rows[k] = columns[k] = -1; // the other one may be anything
            continue;
        }
        if (rows[k] < own.begin || rows[k] >= own.end)
            throw input_error(entries_of(rank) + "row_indices[" + std::to_string(k) + "] is " +
                              std::to_string(rows[k]) + ", allowed are the rows of this part, " +
                              std::to_string(own.begin) + " to " + std::to_string(own.end - 1) +
                              ", or negative");
        if (columns[k] >= all_columns)
            throw input_error(entries_of(rank) + "column_indices[" + std::to_string(k) + "] is " +
                              std::to_string(columns[k]) + ", allowed are 0 to " +
                              std::to_string(all_columns - 1) + ", or negative");
        rows[k] -= static_cast<std::int32_t>(own.begin);
    }
    return coo_assembly(part.rows, all_columns, rows, columns);
}

/// The entries of a rank where its device can read them.
template <class T>
struct entries_there {
    read_there<std::int32_t> rows;
    read_there<std::int32_t> columns;
    read_there<T> values;
    coo_part<T> part;

    entries_there(const std::shared_ptr<device>& device, int rank, const coo_part<T>& given)
        : rows(device, given.row_indices, as_size(given.entries), entries_of(rank), "row_indices"),
          columns(device, given.column_indices, as_size(given.entries), entries_of(rank),
                  "column_indices"),
          values(device, given.values, as_size(given.entries), entries_of(rank), "values"),
          part{given.rows, given.entries, rows.data(), columns.data(), values.data()} {}
};

/// What the sorting of a rank's entries makes.
template <class T>
struct assembled_rows {
    buffer<std::int64_t> offsets;
    buffer<std::int32_t> columns; ///< global
    std::optional<value_gather<T>> gather;
};

template <class T>
assembled_rows<T> assemble_rows(const std::shared_ptr<device>& device, int rank,
                                const coo_part<T>& part, row_range own, std::int64_t columns) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda)
        if (auto there = cuda::assemble_there(device, part.row_indices, part.column_indices,
                                              part.entries, own, columns)) {
            assembled_rows<T> rows{std::move(there->offsets), std::move(there->columns), {}};
            rows.gather.emplace(device, *std::move(there), part.entries);
            return rows;
        } // otherwise the host says which entry is out of range
#endif
    const coo_assembly sorted = assemble(*device, rank, part, own, columns);
    return {{device, sorted.row_offsets(), matrix_item},
            {device, sorted.column_indices(), matrix_item},
            value_gather<T>(device, sorted)};
}

} // namespace

template <class T>
distributed_assembly<T>::distributed_assembly(const communicator& comm,
                                              std::span<const coo_part<T>> parts,
                                              row_partition columns)
    : comm_(comm) {
    comm.together([&] {
        if (parts.size() != as_size(comm.ranks()))
            throw usage_error("distributed_assembly: " + std::to_string(parts.size()) +
                              " parts for " + std::to_string(comm.ranks()) + " devices");
        for (const int rank : comm.local()) check_part(comm[rank], rank, parts[as_size(rank)]);
        row_partition rows =
            rows_of_parts(comm, [&](int rank) { return parts[as_size(rank)].rows; });
        check_partition("distributed_assembly", "rows", rows, rows.rows(), comm);
        check_partition("distributed_assembly", "columns", columns, columns.rows(), comm);
        check_index_size("distributed_assembly: the number of rows", rows.rows());
        check_index_size("distributed_assembly: the number of columns", columns.rows());
        std::vector<assembled_rows<T>> made(parts.size());
        std::vector<device_csr<T>> blocks(parts.size());
        std::vector<local_columns> numbers_of(parts.size());
        on_each_rank(comm, [&](int rank) {
            const auto& device = comm.handle(rank);
            assembled_rows<T>& mine = made[as_size(rank)];
            const entries_there<T> given(device, rank, parts[as_size(rank)]);
            mine = assemble_rows(device, rank, given.part, rows.owned(rank), columns.rows());
            auto numbers =
                number_columns(device, columns.owned(rank), columns.rows(), mine.columns).value();
            (*mine.gather)(given.part.values);
            blocks[as_size(rank)] = {device, numbers.count(), std::move(mine.offsets),
                                     std::move(mine.columns),
                                     borrowed_values<T>(mine.gather->values())};
            blocks[as_size(rank)].set_ascending(true);
            numbers_of[as_size(rank)] = std::move(numbers);
            device->synchronize(); // the caller may free the entries
        });
        values_.resize(made.size());
        gathers_.resize(made.size());
        for (const int rank : comm.local()) {
            value_gather<T>& gather = *made[as_size(rank)].gather;
            values_[as_size(rank)] = gather.values();
            gathers_[as_size(rank)] = std::move(gather);
        }
        entries_ = by_rank(comm, [&](int rank) { return gathers_[as_size(rank)].entries(); });
        comm.all_gather(entries_);
        matrix_ = {comm, std::move(rows), std::move(columns), std::move(blocks),
                   std::move(numbers_of)};
    });
}

template <class T>
void distributed_assembly<T>::check(std::span<const T* const> coo_values) const {
    if (coo_values.size() != gathers_.size())
        throw usage_error("distributed_assembly: " + std::to_string(coo_values.size()) +
                          " arrays of values for " + std::to_string(gathers_.size()) + " ranks");
    for (const int rank : comm_.local())
        if (entries(rank) != 0)
            check_readable(comm_[rank], "distributed_assembly::gather: ", coo_values[as_size(rank)],
                           ("coo_values[" + std::to_string(rank) + "]").c_str());
}

/// All drivers take new values, or none does.
template <class T>
void distributed_assembly<T>::gather(std::span<const T* const> coo_values) {
    comm_.together([&] { check(coo_values); });
    comm_.together([&] {
        for (const int rank : comm_.local())
            if (entries(rank) != 0) {
                const read_there<T> values(comm_.handle(rank), coo_values[as_size(rank)],
                                           as_size(entries(rank)),
                                           "distributed_assembly::gather: ", "coo_values");
                gathers_[as_size(rank)](values.data());
            }
    });
}

#define KRYLITH_INSTANTIATE(T) template class distributed_assembly<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
