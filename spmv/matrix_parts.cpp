#include <krylith/spmv/matrix_parts.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/spmv/building/part_checks.hpp>

namespace krylith {

namespace {

/// Returns the rows' offsets, counted from 0 and widened.
std::vector<std::int64_t> read_offsets(device& device, const offset_array& offsets,
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

/// Builds the operator of parts whose pattern does not leave the devices. Null where it is invalid.
template <class T>
std::unique_ptr<matrix_operator<T>>
assembled_there(const communicator& comm, std::span<const csr_part<T>> parts,
                const std::optional<operator_layouts>& layouts, const operator_options& options) {
    row_partition rows;
    std::vector<given_rows> given;
    matrix_source<T> source;
    source.borrow = options.borrow;
    for (const csr_part<T>& part : parts) {
        rows.begin.push_back(rows.begin.back() + part.rows);
        given.push_back(
            {part.rows, part.row_offsets.narrow, part.row_offsets.wide, part.column_indices});
        source.parts.push_back({part.column_indices, part.values});
    }
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
    source.parts.push_back({part.column_indices, part.values});
    source.matrix = {part.rows,
                     columns_of(rows, placement),
                     {part.row_offsets.wide, static_cast<std::size_t>(part.rows) + 1},
                     {part.column_indices, static_cast<std::size_t>(count)},
                     {}};
    source.longest = validate_pattern(source.matrix);
    return build_operator(comm, source, placement, options);
}

template <class T>
std::unique_ptr<matrix_operator<T>>
assembled_anywhere(const communicator& comm, std::span<const csr_part<T>> parts,
                   const std::optional<operator_layouts>& layouts,
                   const operator_options& options) {
    check_count(parts.size(), comm);
    check_order(options);
    for (const int rank : comm.local())
        check_part(comm[rank], rank, parts[static_cast<std::size_t>(rank)]);
    if (can_be_made_there(comm, options))
        if (auto there = assembled_there(comm, parts, layouts, options)) return there;
    if (lies_as_a_whole(comm, parts)) return assembled_in_place(comm, parts[0], layouts, options);
    row_partition rows;
    std::vector<std::int64_t> offsets{0};
    for (const int rank : comm.local()) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        rows.begin.push_back(rows.begin.back() + part.rows);
        if (part.rows == 0) continue;
        const std::int64_t before = offsets.back();
        const auto own = read_offsets(comm[rank], part.row_offsets, part.rows);
        for (std::size_t i = 1; i < own.size(); ++i) {
            if (own[i] < own[i - 1])
                throw input_error("make_operator: row " +
                                  std::to_string(rows.begin[static_cast<std::size_t>(rank)] +
                                                 static_cast<std::int64_t>(i) - 1) +
                                  " (part " + std::to_string(rank) + ") starts at " +
                                  std::to_string(own[i - 1]) + " and ends at " +
                                  std::to_string(own[i]) +
                                  ": allowed are row_offsets that don't descend");
            offsets.push_back(before + own[i]);
        }
    }

    const operator_placement placement = placement_of(rows, layouts, options);
    matrix_source<T> source;
    source.borrow = options.borrow;
    std::vector<std::int32_t> columns;
    resize_in_parallel(columns, static_cast<std::size_t>(offsets.back()));
    for (const int rank : comm.local()) {
        const csr_part<T>& part = parts[static_cast<std::size_t>(rank)];
        const auto own = rows.owned(rank);
        const std::int64_t first = offsets[static_cast<std::size_t>(own.begin)];
        const std::int64_t count = offsets[static_cast<std::size_t>(own.end)] - first;
        if (count > 0) {
            check_entries(comm[rank], rank, part);
            comm[rank].download(columns.data() + first, part.column_indices,
                                static_cast<std::size_t>(count) * sizeof(std::int32_t));
        }
        source.parts.push_back({part.column_indices, part.values});
    }
    source.matrix = {rows.rows(), columns_of(rows, placement), offsets, columns, {}};
    source.longest = validate_pattern(source.matrix);
    return build_operator(comm, source, placement, options);
}

template <class T>
std::unique_ptr<matrix_operator<T>>
assembled(const communicator& comm, std::span<const csr_part<T>> parts,
          const std::optional<operator_layouts>& layouts, const operator_options& options) {
    auto result = assembled_anywhere(comm, parts, layouts, options);
    if (!result->reads_in_place()) comm.synchronize(); // arrays may be freed then
    return result;
}

const communicator& group_of(const operator_layouts& layouts) {
    if (layouts.range == nullptr) throw usage_error("make_operator: the range layout is null");
    return layouts.range->comm;
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
    return assembled(group_of(layouts), parts, layouts, options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const communicator&, std::span<const csr_part<T>>, const operator_options&);               \
    template std::unique_ptr<matrix_operator<T>> make_operator(                                    \
        const operator_layouts&, std::span<const csr_part<T>>, const operator_options&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
