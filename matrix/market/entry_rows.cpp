#include <krylith/matrix/market/entry_rows.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/entries.hpp>
#include <krylith/matrix/market/row_order.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {

void refuse_memory(const line_source& source, const header& h) {
    refuse(source.name(), h.size_line,
           std::to_string(h.rows) + " rows, " + std::to_string(h.columns) + " columns and " +
               std::to_string(h.entries) + " entries don't fit in memory; available are " +
               available_in_words());
}

void refuse_infinite(line_source& source, const header& h, std::int64_t row, std::int64_t column) {
    const std::string what = "the entries of (" + std::to_string(row + h.first_index) + ", " +
                             std::to_string(column + h.first_index) +
                             ") add up to infinity, allowed are finite sums";
    const std::int64_t line = line_of_entry(source, h, row, column);
    refuse(source.name(), line == 0 ? h.size_line : line, what);
}

void refuse_given_twice(line_source& source, const header& h, place twice) {
    const std::int64_t first = line_of_entry(source, h, twice.row, twice.column);
    const std::int64_t second = line_of_entry(source, h, twice.column, twice.row);
    const auto name = [&](std::int64_t row, std::int64_t column) {
        return "(" + std::to_string(row + h.first_index) + ", " +
               std::to_string(column + h.first_index) + ")";
    };
    const std::string what = "a symmetric file gives both " + name(twice.row, twice.column) +
                             " and " + name(twice.column, twice.row);
    if (first == 0 || second == 0) {
        refuse(source.name(), what + ", allowed is one of them");
    }
    refuse(source.name(), std::max(first, second),
           what + " (lines " + std::to_string(std::min(first, second)) + " and " +
               std::to_string(std::max(first, second)) + "), allowed is one of them");
}

template <class T>
csr_matrix<T> to_rows(line_source& source, const header& h, const memory_limit& limit,
                      coo_matrix<T>&& entries, std::int64_t first_row, std::int64_t& duplicates) {
    const bool ordered = in_row_order(entries);
    limit.check(static_cast<double>(2 * sizeof(std::int32_t) + sizeof(T)) *
                    static_cast<double>(entries.entries()),
                csr_bytes<T>(entries.rows, ordered ? 0 : entries.entries()));
    duplicates = 0;
    if (ordered) {
        return from_row_order(std::move(entries));
    }
    csr_matrix<T> csr = to_csr(entries);
    duplicates = entries.entries() - csr.nnz();
    if (duplicates == 0) {
        return csr;
    }
    const auto bad = std::ranges::find_if_not(csr.values, [](T v) { return std::isfinite(v); });
    if (bad != csr.values.end()) {
        const auto k = bad - csr.values.begin();
        const auto row = std::ranges::upper_bound(csr.row_offsets, k) - csr.row_offsets.begin() - 1;
        refuse_infinite(source, h, first_row + row, csr.column_indices[as_size(k)]);
    }
    return csr;
}

void refuse_other_than_vector(const line_source& source, const header& h) {
    const bool one_number = h.rows == 1 && h.symmetry == symmetry::symmetric;
    if (h.columns != 1 || (h.symmetry != symmetry::general && !one_number)) {
        refuse(source.name(), h.size_line,
               "a " + std::string(name_of(h.symmetry)) + " matrix of " + std::to_string(h.rows) +
                   " rows and " + std::to_string(h.columns) +
                   " columns, allowed is a vector: general, n rows, 1 column");
    }
}

file_report report_on(const header& h, const tally& counts, std::int64_t entries) {
    file_report report;
    report.layout = name_of(h.layout);
    report.field = name_of(h.field);
    report.symmetry = name_of(h.symmetry);
    report.entries = entries;
    report.rounded = counts.rounded;
    report.vanished = counts.vanished;
    report.ignored = counts.ignored;
    return report;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> to_rows(line_source&, const header&, const memory_limit&,               \
                                   coo_matrix<T>&&, std::int64_t, std::int64_t&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::market
