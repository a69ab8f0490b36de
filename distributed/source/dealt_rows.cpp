#include <krylith/distributed/source/dealt_rows.hpp>

#include <krylith/config.hpp>
#if KRYLITH_HAVE_CUDA

#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/transport/transfers.hpp>
#include <krylith/distributed/source/dealt_values.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/storage/bring_values.hpp>

namespace krylith {

namespace {

/// Adds the transfer of offsets, which are counted anew on the way.
void add_offsets(device& device, std::span<const std::int64_t> row_offsets, const joined_rows& rows,
                 std::int64_t* to, std::vector<upload_request>& requests) {
    const auto width = sizeof(std::int64_t);
    requests.push_back(
        {&device, to, nullptr, (as_size(rows.size) + 1) * width,
         [row_offsets, &rows, width](std::byte* piece, std::size_t first, std::size_t count) {
             rows.read_offsets(row_offsets, static_cast<std::int64_t>(first / width),
                               static_cast<std::int64_t>(count / width),
                               reinterpret_cast<std::int64_t*>(piece)); // NOLINT: whole offsets
         }});
}

/// Brings the columns that lie on the devices.
void bring_columns(const resident_matrix& from, std::span<const wanted_rows> wanted,
                   std::span<const entry_list> entries, std::vector<resident_rows>& result) {
    std::vector<const std::int32_t*> columns;
    std::vector<std::int64_t> first{0};
    for (const resident_rows& part : from.parts) {
        columns.push_back(part.columns);
        first.push_back(first.back() + part.lengths.nonzeros);
    }
    std::vector<wanted_entries> lists;
    for (std::size_t k = 0; k < wanted.size(); ++k) lists.push_back({wanted[k].rank, &entries[k]});
    auto brought = bring_entries(from.comm, array_over_group<std::int32_t>{columns, first},
                                 std::span<const wanted_entries>(lists), set_up_item);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        result[k].uploaded = std::move(brought[k].copies);
        result[k].columns = brought[k].data;
    }
}

} // namespace

template <class T>
std::vector<resident_rows> bring_rows(const communicator& comm, const matrix_source<T>& source,
                                      std::span<const wanted_rows> wanted) {
    std::vector<resident_rows> result(wanted.size());
    std::vector<entry_list> entries;
    for (const wanted_rows& w : wanted) entries.push_back(w.rows->entries());
    if (source.resident) bring_columns(*source.resident, wanted, entries, result);
    std::vector<upload_request> requests;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto& device = comm.handle(wanted[k].rank);
        result[k].offsets = {device, as_size(wanted[k].rows->size) + 1, set_up_item};
        add_offsets(*device, source.matrix.row_offsets, *wanted[k].rows, result[k].offsets.data(),
                    requests);
        if (source.resident || entries[k].size() == 0) continue;
        result[k].uploaded = {device, as_size(entries[k].size()), set_up_item};
        result[k].columns = result[k].uploaded.data();
        add_uploads(*device, source.matrix.column_indices.data(), entries[k], 0, entries[k].size(),
                    result[k].uploaded.data(), requests);
    }
    upload_together(requests);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto& device = comm.handle(wanted[k].rank);
        measure_rows(device, result[k]);
        if (source.resident || !cuda::has_bad_column(device, result[k].columns, entries[k].size(),
                                                     source.matrix.columns))
            continue;
        (void)validate_pattern(source.matrix); // names what is wrong
        throw input_error("make_operator: the devices found the pattern invalid, but the host "
                          "finds it valid: the arrays must not change while an operator is made");
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<resident_rows> bring_rows(const communicator&, const matrix_source<T>&,   \
                                                   std::span<const wanted_rows>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith

#endif
