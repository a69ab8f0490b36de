// Reading of Matrix Market files into matrices and vectors: the order of the steps.
#include <krylith/matrix/market/reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <krylith/device/language/instances.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/market/array_places.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/entries.hpp>
#include <krylith/matrix/market/entry_rows.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/memory_limit.hpp>
#include <krylith/matrix/market/mirror.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

using market::header;
using market::line_source;
using market::report_on;

/// The matrix (or the half of it) whose values an array file lists column by column.
template <class T>
csr_matrix<T> from_array(const std::vector<T>& values, const header& h) {
    const auto for_each_nonzero = [&](const auto& use) {
        market::for_each_nonzero<T>(values, h, 0, use);
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

/// The entries of the file, summed and sorted, without those that a symmetry implies.
template <class T>
csr_matrix<T> as_written(line_source& source, const header& h, const market::memory_limit& limit,
                         file_report& report) {
    market::tally counts;
    coo_matrix<T> coo = market::read_entries<T>(source, h, limit, counts);
    report = report_on(h, counts, static_cast<std::int64_t>(coo.values.size()));
    if (h.layout == market::layout::array) {
        const auto zeros = std::count(coo.values.begin(), coo.values.end(), T(0));
        limit.check(sizeof(T) * static_cast<double>(h.entries),
                    market::csr_bytes<T>(h.rows, h.entries - zeros) +
                        8.0 * static_cast<double>(h.rows));
        return from_array(coo.values, h);
    }
    return market::to_rows(source, h, limit, std::move(coo), 0, report.duplicates);
}

void hand_out(file_report&& report, const load_options& options) {
    if (options.report != nullptr) {
        *options.report = std::move(report);
    }
}

void refuse_other_than_columns(const line_source& source, const header& h) {
    const bool array = h.layout == market::layout::array && h.symmetry == market::symmetry::general;
    if (!array || h.columns == 1) {
        return market::refuse_other_than_vector(source, h);
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
        file_report report;
        csr_matrix<T> matrix = as_written<T>(source, h, limit, report);
        if (h.symmetry != symmetry::general) {
            limit.check(csr_bytes<T>(h.rows, matrix.nnz()),
                        csr_bytes<T>(h.rows, 2 * matrix.nnz()) + 8.0 * static_cast<double>(h.rows));
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
        tally counts;
        coo_matrix<T> entries = read_entries<T>(source, h, limit, counts);
        file_report report = report_on(h, counts, static_cast<std::int64_t>(entries.values.size()));
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
