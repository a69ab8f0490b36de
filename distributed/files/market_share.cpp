#include <krylith/distributed/files/market_share.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/files/entry_routing.hpp>
#include <krylith/distributed/files/text_ranges.hpp>
#include <krylith/matrix/market/array_places.hpp>
#include <krylith/matrix/market/entries.hpp>
#include <krylith/matrix/market/entry_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::detail {

namespace {

using market::header;
using market::line_source;
using market::memory_limit;

/// A file whose header has been read by this driver.
struct open_market {
    line_source source;
    header h;

    open_market(const std::string& path, market::expected_shape shape)
        : source(line_source::from_file(path)), h(read_header(source, shape)) {}
};

/// The entries that this driver reads: those of all drivers, one after the other, are those of the
/// file. What stands in no part of a text (gzip data, and vectors behind the entries) rank 0's
/// reads. Collective.
template <class T>
coo_matrix<T> read_share(const communicator& comm, open_market& file, const memory_limit& limit,
                         market::tally& counts) {
    const bool first = comm.is_local(0);
    coo_matrix<T> none{file.h.rows, file.h.columns, {}, {}, {}};
    if (comm.any(!file.source.is_plain_file() || file.h.vectors_follow)) {
        if (!first) return none;
        return market::read_entries<T>(file.source, file.h, limit, counts);
    }
    const item_range text = own_text(comm, file.source);
    line_source part = line_source::from_file(file.source.name());
    std::optional<coo_matrix<T>> mine = std::move(none);
    if (text.size() > 0 && part.is_plain_file()) {
        part.keep_to(text.begin, text.end);
        mine = market::read_part<T>(part, file.h, limit, counts);
    }
    const auto found = mine ? static_cast<std::int64_t>(mine->values.size()) : 0;
    if (comm.any(!mine) || sum_of_drivers(comm, found) != file.h.entries) {
        if (first) {
            market::find_flaw<T>(file.source, file.h);
            throw input_error(file.source.name() + ": has changed while it was read");
        }
        (void)comm.any(false); // throws what the first one finds
    }
    return std::move(*mine);
}

/// Gives the values of an array their places; zeros are no entries.
template <class T>
void place_array(const communicator& comm, const header& h, const memory_limit& limit,
                 coo_matrix<T>& entries) {
    const auto count = static_cast<std::int64_t>(entries.values.size());
    const std::int64_t first = sum_before(comm, count);
    const std::int64_t nonzeros = count - std::ranges::count(entries.values, T(0));
    limit.check(static_cast<double>(sizeof(T)) * static_cast<double>(count),
                coo_bytes<T>(nonzeros));
    coo_matrix<T> placed{h.rows, h.columns, {}, {}, {}};
    placed.row_indices.reserve(as_size(nonzeros));
    placed.column_indices.reserve(as_size(nonzeros));
    placed.values.reserve(as_size(nonzeros));
    market::for_each_nonzero<T>(
        entries.values, h, first, [&](std::int64_t row, std::int64_t column, T value) {
            placed.row_indices.push_back(static_cast<std::int32_t>(row));
            placed.column_indices.push_back(static_cast<std::int32_t>(column));
            placed.values.push_back(value);
        });
    entries = std::move(placed);
}

/// Adds the mirrored entries of rows, with other signs where the file is skew-symmetric, to those
/// that it gives. Both are canonical: signs change when duplicates have been summed, so that sums
/// of 0 have the sign that they have in a single reader's matrix.
template <class T>
csr_matrix<T> merged(open_market& file, const csr_matrix<T>& given, const csr_matrix<T>& mirrored,
                     std::int64_t first_row) {
    csr_matrix<T> both{given.rows, given.columns, {0}, {}, {}};
    both.row_offsets.reserve(given.row_offsets.size());
    both.column_indices.reserve(as_size(given.nnz() + mirrored.nnz()));
    both.values.reserve(as_size(given.nnz() + mirrored.nnz()));
    const T sign = file.h.symmetry == market::symmetry::symmetric ? T(1) : T(-1);
    const auto put = [&](const csr_matrix<T>& from, std::size_t k, T factor) {
        both.column_indices.push_back(from.column_indices[k]);
        both.values.push_back(factor * from.values[k]);
    };
    for (std::size_t row = 0; row < as_size(given.rows); ++row) {
        auto j = as_size(mirrored.row_offsets[row]);
        const auto end = as_size(mirrored.row_offsets[row + 1]);
        for (auto k = as_size(given.row_offsets[row]); k < as_size(given.row_offsets[row + 1]);
             ++k) {
            const std::int32_t column = given.column_indices[k];
            while (j < end && mirrored.column_indices[j] < column) put(mirrored, j++, sign);
            if (j < end && mirrored.column_indices[j] == column)
                market::refuse_given_twice(
                    file.source, file.h,
                    {first_row + static_cast<std::int64_t>(row), std::int64_t{column}});
            put(given, k, T(1));
        }
        while (j < end) put(mirrored, j++, sign);
        both.row_offsets.push_back(static_cast<std::int64_t>(both.values.size()));
    }
    return both;
}

/// The rows of a cut that this driver gets, with their sums of duplicates.
template <class T>
csr_matrix<T> assemble(const communicator& comm, open_market& file, const memory_limit& limit,
                       coo_matrix<T> entries, const row_partition& cut, std::int64_t& duplicates) {
    const bool general = file.h.symmetry == market::symmetry::general;
    const std::int64_t first = local_rows(comm, cut).begin;
    coo_matrix<T> half;
    auto own = route_entries(comm, entries, cut, entry_side::as_given, limit);
    if (!general)
        half = route_entries(comm, entries, cut, entry_side::mirrored, limit,
                             coo_bytes<T>(own.entries()));
    entries = {};
    auto rows = market::to_rows(file.source, file.h, limit, std::move(own), first, duplicates);
    (void)comm.any(false); // infinite sums come before what is given twice
    if (general) return rows;
    std::int64_t uncounted = 0;
    const auto other =
        market::to_rows(file.source, file.h, limit, std::move(half), first, uncounted);
    return merged(file, rows, other, first);
}

template <class T>
own_rows<T> read_rows(const communicator& comm, open_market& file, const load_options& options,
                      int block_size) {
    const memory_limit limit(file.source, file.h, options.memory);
    limit.check_rows();
    market::tally counts;
    coo_matrix<T> entries = read_share<T>(comm, file, limit, counts);
    file_report report =
        report_on(file.h, counts, static_cast<std::int64_t>(entries.values.size()));
    if (file.h.layout == market::layout::array) place_array(comm, file.h, limit, entries);
    const bool general = file.h.symmetry == market::symmetry::general;
    row_partition cut = cut_by_entries(comm, file.h.rows, entries.row_indices,
                                       general ? std::span<const std::int32_t>()
                                               : std::span(std::as_const(entries.column_indices)));
    own_rows<T> result;
    result.matrix = assemble(comm, file, limit, std::move(entries), cut, report.duplicates);
    result.rows = cut_rows(comm, result.matrix, cut, block_size);
    result.matrix = move_rows(comm, std::move(result.matrix), cut, result.rows);
    for (std::int64_t* const count :
         {&report.entries, &report.duplicates, &report.rounded, &report.vanished, &report.ignored})
        *count = sum_of_drivers(comm, *count);
    if (options.report != nullptr) *options.report = std::move(report);
    return result;
}

} // namespace

void check_vector_length(const std::string& name, std::int64_t entries, const row_partition& rows) {
    if (entries != rows.rows())
        throw input_error(name + " has " + std::to_string(entries) + " entries, the matrix " +
                          std::to_string(rows.rows()) + " rows: they must agree");
}

template <class T>
own_rows<T> market_rows(const communicator& comm, const std::string& path,
                        const load_options& options, int block_size) {
    open_market file(path, market::expected_shape::matrix);
    return market::within_memory(file.source, file.h,
                                 [&] { return read_rows<T>(comm, file, options, block_size); });
}

template <class T>
std::vector<T> market_vector(const communicator& comm, const std::string& path,
                             const row_partition& rows) {
    open_market file(path, market::expected_shape::vector);
    market::refuse_other_than_vector(file.source, file.h);
    const memory_limit limit(file.source, file.h, 0);
    limit.check_rows();
    return market::within_memory(file.source, file.h, [&] {
        market::tally uncounted;
        coo_matrix<T> entries = read_share<T>(comm, file, limit, uncounted);
        check_vector_length(path, file.h.rows, rows);
        if (file.h.layout == market::layout::array) {
            const auto count = static_cast<std::int64_t>(entries.values.size());
            entries.row_indices.resize(entries.values.size());
            entries.column_indices.resize(entries.values.size(), 0);
            std::iota(entries.row_indices.begin(), entries.row_indices.end(),
                      static_cast<std::int32_t>(sum_before(comm, count)));
        }
        const auto own = route_entries(comm, entries, rows, entry_side::as_given, limit);
        std::vector<T> vector(as_size(own.rows), T(0));
        if (file.h.layout == market::layout::array) {
            for (std::size_t k = 0; k < own.values.size(); ++k)
                vector[as_size(own.row_indices[k])] = own.values[k];
            return vector;
        }
        for (std::size_t k = 0; k < own.values.size(); ++k)
            vector[as_size(own.row_indices[k])] += own.values[k];
        const auto bad = std::ranges::find_if_not(vector, [](T v) { return std::isfinite(v); });
        if (bad != vector.end())
            market::refuse_infinite(file.source, file.h,
                                    local_rows(comm, rows).begin + (bad - vector.begin()), 0);
        return vector;
    });
}

#define KRYLITH_INSTANTIATE(T) template struct instances<market_rows<T>, market_vector<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
