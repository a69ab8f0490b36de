#include <krylith/spmv/matrix_parts.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/distributed/source/partition_check.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/spmv/building/part_checks.hpp>

namespace krylith {

namespace {

/// Returns the rows' offsets, counted from 0 and widened.
std::vector<std::int64_t> read_offsets(device& device, const index_array& offsets,
                                       std::int64_t rows) {
    const auto count = static_cast<std::size_t>(rows) + 1;
    std::vector<std::int64_t> result(count);
    if (offsets.wide != nullptr) {
        device.download(result.data(), offsets.wide, count * sizeof(std::int64_t));
    } else {
        std::vector<std::int32_t> narrow(count);
        device.download(narrow.data(), offsets.narrow, count * sizeof(std::int32_t));
        std::copy(narrow.begin(), narrow.end(), result.begin());
    }
    const std::int64_t first = result.front();
    for (auto& offset : result) offset -= first;
    return result;
}

/// The columns of the whole matrix: as many as rows, unless layouts say it.
std::int64_t columns_of(const row_partition& rows, const operator_placement& placement) {
    return placement.layouts ? placement.layouts->domain->size() : rows.rows();
}

/// The rows of all parts.
template <class T>
row_partition rows_of(const communicator& comm, std::span<const csr_part<T>> parts) {
    return rows_of_parts(comm,
                         [&](int rank) { return parts[static_cast<std::size_t>(rank)].rows; });
}

/// The arrays of local ranks, [ranks].
template <class T>
auto arrays_of(const communicator& comm, std::span<const csr_part<T>> parts) {
    std::remove_cvref_t<decltype(matrix_source<T>::parts)> arrays(parts.size());
    for (const int rank : comm.local()) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        arrays[static_cast<std::size_t>(rank)] = {part.column_indices.narrow, part.values};
    }
    return arrays;
}

/// Builds the operator of parts whose pattern does not leave the devices. Null where it is invalid.
template <class T>
std::unique_ptr<matrix_operator<T>>
assembled_there(const communicator& comm, std::span<const csr_part<T>> parts,
                const std::optional<operator_layouts>& layouts, const operator_options& options) {
    const row_partition rows = rows_of(comm, parts);
    const auto given = by_rank(comm, [&](int rank) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        return given_rows{part.rows, part.row_offsets.narrow, part.row_offsets.wide,
                          part.column_indices.narrow};
    });
    matrix_source<T> source;
    source.borrow = options.borrow;
    source.parts = arrays_of(comm, parts);
    const operator_placement placement = placement_of(rows, layouts, options);
    for (const int rank : comm.local()) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        if (part.rows == 0 || count_nonzeros(comm[rank], part.row_offsets, part.rows) == 0)
            continue;
        check_entries(comm[rank], rank, part);
    }
    source.resident = take_pattern(comm, given, columns_of(rows, placement));
    if (!source.resident) return nullptr;
    source.matrix.rows = rows.rows();
    source.matrix.columns = columns_of(rows, placement);
    source.longest = source.resident->longest();
    return build_operator(comm, source, placement, options);
}

/// Whether all rows lie on one host device, their offsets in 64 bits from 0 on, so that the host
/// can read them where they are. Waits for the device.
template <class T>
bool lies_as_a_whole(const communicator& comm, std::span<const csr_part<T>> parts) {
    const csr_part<T>& part = parts[0];
    if (comm.ranks() != 1 || comm.kind() != backend::host || part.rows == 0) return false;
    const std::int64_t* const offsets = part.row_offsets.wide;
    if (offsets == nullptr) return false;
    comm[0].synchronize();
    return offsets[0] == 0 && std::is_sorted(offsets, offsets + part.rows + 1);
}

/// Builds the operator of such rows.
template <class T>
std::unique_ptr<matrix_operator<T>>
assembled_in_place(const communicator& comm, const csr_part<T>& part,
                   const std::optional<operator_layouts>& layouts,
                   const operator_options& options) {
    const row_partition rows{{0, part.rows}};
    const std::int64_t count = part.row_offsets.wide[part.rows];
    if (count > 0) check_entries(comm[0], 0, part);
    const operator_placement placement = placement_of(rows, layouts, options);
    matrix_source<T> source;
    source.borrow = options.borrow;
    source.parts.push_back({part.column_indices.narrow, part.values});
    source.matrix = {part.rows,
                     columns_of(rows, placement),
                     {part.row_offsets.wide, static_cast<std::size_t>(part.rows) + 1},
                     {part.column_indices.narrow, static_cast<std::size_t>(count)},
                     {}};
    source.longest = validate_pattern(source.matrix);
    return build_operator(comm, source, placement, options);
}

/// The offsets of a part, from 0, whose first row is `first` of the whole matrix.
template <class T>
std::vector<std::int64_t> ascending_offsets(device& device, const csr_part<T>& part, int rank,
                                            std::int64_t first) {
    auto own = read_offsets(device, part.row_offsets, part.rows);
    const auto descent = std::ranges::adjacent_find(own, std::greater<>());
    if (descent != own.end())
        throw input_error(
            "make_operator: row " + std::to_string(first + (descent - own.begin())) + " (part " +
            std::to_string(rank) + ") starts at " + std::to_string(descent[0]) + " and ends at " +
            std::to_string(descent[1]) + ": allowed are row_offsets that don't descend");
    return own;
}

/// Gives each driver the columns of all ranks' entries, of which it has those of its own.
void share_entries(const communicator& comm, const row_partition& rows,
                   std::span<const std::int64_t> offsets, std::vector<std::int32_t>& columns) {
    if (comm.has_one_driver()) return;
    auto lists = by_rank(comm, [&](int rank) {
        const row_range owned = rows.owned(rank);
        return std::vector<std::int32_t>(
            columns.begin() + offsets[static_cast<std::size_t>(owned.begin)],
            columns.begin() + offsets[static_cast<std::size_t>(owned.end)]);
    });
    comm.all_gather_lists(lists);
    auto to = columns.begin();
    for (const auto& list : lists) to = std::ranges::copy(list, to).out;
}

/// Whether local parts are to be copied first: columns of 64 bits, and arrays in memory of the host
/// that are for GPUs.
template <class T>
bool are_brought(const communicator& comm, std::span<const csr_part<T>> parts) {
    return std::ranges::any_of(comm.local(), [&](int rank) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        if (part.column_indices.wide != nullptr) return true;
        const auto on_host = [&](const void* array) {
            return array != nullptr && comm[rank].lies_elsewhere(array) == host_memory_name;
        };
        return on_host(part.row_offsets.data()) || on_host(part.column_indices.narrow) ||
               on_host(part.values);
    });
}

/// Whether rows on host devices of several drivers can stay where they are: no driver then has
/// anything of the length of the whole matrix.
bool stay_apart(const communicator& comm, const std::optional<operator_layouts>& layouts,
                const operator_options& options) {
    const bool halo = options.kind ? options.kind == operators::halo
                                   : !layouts || layouts->range->kind == coherence::owned;
    return !comm.has_one_driver() && comm.kind() == backend::host && halo && !options.borrow &&
           !options.measure && !options.transposed_products;
}

/// Makes the operator of a matrix over the devices.
template <class T>
std::unique_ptr<matrix_operator<T>>
brought(const communicator& comm, std::span<const csr_part<T>> parts,
        const std::optional<operator_layouts>& layouts, const operator_options& options) {
    if (options.borrow)
        throw usage_error("make_operator: values can't be borrowed of parts with columns of 64 "
                          "bits, or in memory of the host, that are for GPUs");
    row_partition rows = rows_of(comm, parts);
    (void)placement_of(rows, layouts, options); // layouts that don't fit are named
    // Operators of host devices copy the values from where they lie.
    const distributed_csr<T> matrix(comm, parts, layouts ? layouts->domain->rows : std::move(rows),
                                    comm.kind() == backend::host ? part_values::borrowed
                                                                 : part_values::copied);
    return layouts ? make_operator(*layouts, matrix, options) : make_operator(matrix, options);
}

template <class T>
std::unique_ptr<matrix_operator<T>>
assembled_anywhere(const communicator& comm, std::span<const csr_part<T>> parts,
                   const std::optional<operator_layouts>& layouts,
                   const operator_options& options) {
    check_count(parts.size(), comm);
    check_order(options);
    if (comm.any(are_brought(comm, parts))) return brought(comm, parts, layouts, options);
    if (stay_apart(comm, layouts, options)) return brought(comm, parts, layouts, options);
    for (const int rank : comm.local())
        check_part(comm[rank], rank, parts[static_cast<std::size_t>(rank)]);
    if (can_be_made_there(comm, options))
        if (auto there = assembled_there(comm, parts, layouts, options)) return there;
    if (lies_as_a_whole(comm, parts)) return assembled_in_place(comm, parts[0], layouts, options);
    const row_partition rows = rows_of(comm, parts);
    auto offsets_of = by_rank(comm, [&](int rank) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        return part.rows == 0 ? std::vector<std::int64_t>()
                              : ascending_offsets(comm[rank], part, rank, rows.owned(rank).begin);
    });
    comm.all_gather_lists(offsets_of);
    std::vector<std::int64_t> offsets{0};
    for (const auto& own : offsets_of) {
        const std::int64_t before = offsets.back();
        for (std::size_t i = 1; i < own.size(); ++i) offsets.push_back(before + own[i]);
    }

    const operator_placement placement = placement_of(rows, layouts, options);
    matrix_source<T> source;
    source.borrow = options.borrow;
    source.parts = arrays_of(comm, parts);
    std::vector<std::int32_t> columns;
    resize_in_parallel(columns, static_cast<std::size_t>(offsets.back()));
    for (const int rank : comm.local()) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        const auto own = rows.owned(rank);
        const std::int64_t first = offsets[static_cast<std::size_t>(own.begin)];
        const std::int64_t count = offsets[static_cast<std::size_t>(own.end)] - first;
        if (count > 0) {
            check_entries(comm[rank], rank, part);
            comm[rank].download(columns.data() + first, part.column_indices.narrow,
                                static_cast<std::size_t>(count) * sizeof(std::int32_t));
        }
    }
    share_entries(comm, rows, offsets, columns);
    source.matrix = {rows.rows(), columns_of(rows, placement), offsets, columns, {}};
    source.longest = validate_pattern(source.matrix);
    return build_operator(comm, source, placement, options);
}

template <class T>
std::unique_ptr<matrix_operator<T>>
assembled(const communicator& comm, std::span<const csr_part<T>> parts,
          const std::optional<operator_layouts>& layouts, const operator_options& options) {
    return comm.together([&] {
        auto result = assembled_anywhere(comm, parts, layouts, options);
        if (!result->reads_in_place()) comm.synchronize(); // arrays may be freed then
        return result;
    });
}

} // namespace

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const communicator& comm,
                                                  std::span<const csr_part<T>> parts,
                                                  const operator_options& options) {
    return assembled(comm, parts, {}, options);
}

template <class T>
std::unique_ptr<matrix_operator<T>> make_operator(const operator_layouts& layouts,
                                                  std::span<const csr_part<T>> parts,
                                                  const operator_options& options) {
    return assembled(comm_of(layouts), parts, layouts, options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const communicator&, std::span<const csr_part<T>>, const operator_options&);               \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, std::span<const csr_part<T>>, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
