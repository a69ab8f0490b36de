// Reading of Matrix Market files into matrices and vectors: the order of the steps.
#include <krylith/matrix/market/reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/files/available_memory.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/entries.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/memory_limit.hpp>
#include <krylith/matrix/market/mirror.hpp>
#include <krylith/matrix/market/row_order.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

using market::header;
using market::line_source;

/// Runs read(), which returns the contents; throws a message if they don't fit in memory.
template <class Read>
auto within_memory(const line_source& source, const header& h, const Read& read) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        market::refuse(source.name(), h.size_line,
                       std::to_string(h.rows) + " rows, " + std::to_string(h.columns) +
                           " columns and " + std::to_string(h.entries) +
                           " entries don't fit in memory; available are " + available_in_words());
    }
}

/// The matrix (or the half of it) whose values an array file lists column by column.
template <class T>
csr_matrix<T> from_array(const std::vector<T>& values, const header& h) {
    const std::int64_t skipped = h.symmetry == market::symmetry::skew_symmetric ? 1 : 0;
    const auto for_each_nonzero = [&](const auto& use) {
        const T* value = values.data();
        const T* const end = value + values.size();
        for (std::int64_t column = 0; value != end; ++column) {
            const std::int64_t first =
                h.symmetry == market::symmetry::general ? 0 : column + skipped;
            for (std::int64_t row = first; row < h.rows; ++row, ++value) {
                if (*value != T(0)) {
                    use(row, column, *value);
                }
            }
        }
    };
    csr_matrix<T> csr;
    csr.rows = h.rows;
    csr.columns = h.columns;
    std::vector<std::int64_t> next(as_size(h.rows), 0);
    for_each_nonzero([&](std::int64_t row, std::int64_t, T) { ++next[as_size(row)]; });
    csr.row_offsets.reserve(as_size(h.rows) + 1);
    for (std::int64_t& row : next) {
        csr.row_offsets.push_back(csr.row_offsets.back() + row);
        row = *(csr.row_offsets.end() - 2);
    }
    csr.column_indices.resize(as_size(csr.row_offsets.back()));
    csr.values.resize(as_size(csr.row_offsets.back()));
    for_each_nonzero([&](std::int64_t row, std::int64_t column, T value) {
        const auto k = as_size(next[as_size(row)]++);
        csr.column_indices[k] = static_cast<std::int32_t>(column);
        csr.values[k] = value;
    });
    return csr;
}

/// The bytes of a CSR matrix with that many entries.
template <class T>
double csr_bytes(const header& h, std::int64_t entries) {
    return 8.0 * static_cast<double>(h.rows + 1) +
           static_cast<double>(sizeof(std::int32_t) + sizeof(T)) * static_cast<double>(entries);
}

[[noreturn]] void refuse_infinite(line_source& source, const header& h, std::int64_t row,
                                  std::int64_t column) {
    const std::string what = "the entries of (" + std::to_string(row + h.first_index) + ", " +
                             std::to_string(column + h.first_index) +
                             ") add up to infinity, allowed are finite sums";
    const std::int64_t line = market::line_of_entry(source, h, row, column);
    market::refuse(source.name(), line == 0 ? h.size_line : line, what);
}

/// Refuses infinite sums, which finite duplicates may have.
template <class T>
void refuse_infinite_sum(line_source& source, const header& h, const csr_matrix<T>& csr) {
    const auto bad = std::ranges::find_if_not(csr.values, [](T v) { return std::isfinite(v); });
    if (bad == csr.values.end()) {
        return;
    }
    const auto k = bad - csr.values.begin();
    const auto row = std::ranges::upper_bound(csr.row_offsets, k) - csr.row_offsets.begin() - 1;
    refuse_infinite(source, h, row, csr.column_indices[as_size(k)]);
}

/// The entries of the file, summed and sorted, without those that a symmetry implies.
template <class T>
csr_matrix<T> as_written(line_source& source, const header& h, const market::memory_limit& limit,
                         file_report& report) {
    market::tally counts;
    coo_matrix<T> coo = market::read_entries<T>(source, h, limit, counts);
    report.entries = static_cast<std::int64_t>(coo.values.size());
    report.rounded = counts.rounded;
    report.vanished = counts.vanished;
    report.ignored = counts.ignored;
    if (h.layout == market::layout::array) {
        const auto zeros = std::count(coo.values.begin(), coo.values.end(), T(0));
        limit.check(sizeof(T) * static_cast<double>(h.entries),
                    csr_bytes<T>(h, h.entries - zeros) + 8.0 * static_cast<double>(h.rows));
        return from_array(coo.values, h);
    }
    const bool ordered = market::in_row_order(coo);
    limit.check(static_cast<double>(2 * sizeof(std::int32_t) + sizeof(T)) *
                    static_cast<double>(h.entries),
                csr_bytes<T>(h, ordered ? 0 : h.entries));
    if (ordered) {
        return market::from_row_order(std::move(coo));
    }
    csr_matrix<T> csr = to_csr(coo);
    report.duplicates = coo.entries() - csr.nnz();
    if (report.duplicates > 0) {
        refuse_infinite_sum(source, h, csr);
    }
    return csr;
}

[[noreturn]] void refuse_given_twice(line_source& source, const header& h, market::place twice) {
    const std::int64_t first = market::line_of_entry(source, h, twice.row, twice.column);
    const std::int64_t second = market::line_of_entry(source, h, twice.column, twice.row);
    const auto name = [&](std::int64_t row, std::int64_t column) {
        return "(" + std::to_string(row + h.first_index) + ", " +
               std::to_string(column + h.first_index) + ")";
    };
    const std::string what = "a symmetric file gives both " + name(twice.row, twice.column) +
                             " and " + name(twice.column, twice.row);
    if (first == 0 || second == 0) {
        market::refuse(source.name(), what + ", allowed is one of them");
    }
    market::refuse(source.name(), std::max(first, second),
                   what + " (lines " + std::to_string(std::min(first, second)) + " and " +
                       std::to_string(std::max(first, second)) + "), allowed is one of them");
}

file_report report_on(const header& h) {
    file_report report;
    report.layout = name_of(h.layout);
    report.field = name_of(h.field);
    report.symmetry = name_of(h.symmetry);
    return report;
}

void hand_out(file_report&& report, const load_options& options) {
    if (options.report != nullptr) {
        *options.report = std::move(report);
    }
}

void refuse_other_than_vector(const line_source& source, const header& h) {
    const bool one_number = h.rows == 1 && h.symmetry == market::symmetry::symmetric;
    if (h.columns != 1 || (h.symmetry != market::symmetry::general && !one_number)) {
        market::refuse(source.name(), h.size_line,
                       "a " + std::string(market::name_of(h.symmetry)) + " matrix of " +
                           std::to_string(h.rows) + " rows and " + std::to_string(h.columns) +
                           " columns, allowed is a vector: general, n rows, 1 column");
    }
}

void refuse_other_than_columns(const line_source& source, const header& h) {
    const bool array = h.layout == market::layout::array && h.symmetry == market::symmetry::general;
    if (!array || h.columns == 1) {
        return refuse_other_than_vector(source, h);
    }
    if (h.columns == 0) {
        market::refuse(source.name(), h.size_line, "0 columns, allowed are 1 and more");
    }
}

/// Adds the entries up; returns how many stood at a place given before.
template <class T>
std::int64_t scatter(const coo_matrix<T>& entries, std::vector<T>& vector) {
    std::vector<bool> given(vector.size(), false);
    std::int64_t duplicates = 0;
    for (std::size_t k = 0; k < entries.values.size(); ++k) {
        const auto row = as_size(entries.row_indices[k]);
        vector[row] += entries.values[k];
        duplicates += given[row];
        given[row] = true;
    }
    return duplicates;
}

} // namespace

namespace market {

template <class T>
csr_matrix<T> read_matrix(line_source source, const load_options& options) {
    const header h = read_header(source, expected_shape::matrix);
    const memory_limit limit(source, h, options.memory);
    limit.check_rows();
    return within_memory(source, h, [&] {
        file_report report = report_on(h);
        csr_matrix<T> matrix = as_written<T>(source, h, limit, report);
        if (h.symmetry != symmetry::general) {
            limit.check(csr_bytes<T>(h, matrix.nnz()),
                        csr_bytes<T>(h, 2 * matrix.nnz()) + 8.0 * static_cast<double>(h.rows));
            mirrored<T> whole = mirror(matrix, h.symmetry == symmetry::symmetric ? T(1) : T(-1));
            if (whole.given_twice) {
                refuse_given_twice(source, h, *whole.given_twice);
            }
            matrix = std::move(whole.matrix);
        }
        hand_out(std::move(report), options);
        return matrix;
    });
}

/// Reads what follows the header of a vector, or of an array of several.
template <class T>
std::vector<T> read_dense(line_source& source, const header& h, const load_options& options) {
    const memory_limit limit(source, h, options.memory);
    limit.check_rows();
    return within_memory(source, h, [&] {
        file_report report = report_on(h);
        tally counts;
        coo_matrix<T> entries = read_entries<T>(source, h, limit, counts);
        report.entries = static_cast<std::int64_t>(entries.values.size());
        report.rounded = counts.rounded;
        report.vanished = counts.vanished;
        report.ignored = counts.ignored;
        std::vector<T> vector;
        if (h.layout == layout::array) {
            vector = std::move(entries.values);
        } else {
            limit.check(static_cast<double>(2 * sizeof(std::int32_t) + sizeof(T)) *
                            static_cast<double>(h.entries),
                        (sizeof(T) + 0.125) * static_cast<double>(h.rows));
            vector.resize(as_size(h.rows));
            report.duplicates = scatter(entries, vector);
            const auto bad = std::ranges::find_if_not(vector, [](T v) { return std::isfinite(v); });
            if (bad != vector.end()) {
                refuse_infinite(source, h, bad - vector.begin(), 0);
            }
        }
        hand_out(std::move(report), options);
        return vector;
    });
}

template <class T>
std::vector<T> read_vector(line_source source, const load_options& options) {
    const header h = read_header(source, expected_shape::vector);
    refuse_other_than_vector(source, h);
    return read_dense<T>(source, h, options);
}

template <class T>
dense_columns<T> read_columns(line_source source) {
    const header h = read_header(source, expected_shape::vector);
    refuse_other_than_columns(source, h);
    return {h.rows, h.columns, read_dense<T>(source, h, {})};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_matrix(line_source, const load_options&);                          \
    template std::vector<T> read_vector(line_source, const load_options&);                         \
    template dense_columns<T> read_columns(line_source);
#include <krylith/device/language/instantiate.inc>

} // namespace market

template <class T>
csr_matrix<T> read_matrix_market(const std::filesystem::path& path, const load_options& options) {
    return market::read_matrix<T>(line_source::from_file(path), options);
}

template <class T>
csr_matrix<T> parse_matrix_market(std::string_view text, std::string name,
                                  const load_options& options) {
    return market::read_matrix<T>(line_source::from_text(text, std::move(name)), options);
}

template <class T>
std::vector<T> read_vector_market(const std::filesystem::path& path, const load_options& options) {
    return market::read_vector<T>(line_source::from_file(path), options);
}

template <class T>
std::vector<T> parse_vector_market(std::string_view text, std::string name,
                                   const load_options& options) {
    return market::read_vector<T>(line_source::from_text(text, std::move(name)), options);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct instances<read_matrix_market<T>, parse_matrix_market<T>,                       \
                              read_vector_market<T>, parse_vector_market<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
