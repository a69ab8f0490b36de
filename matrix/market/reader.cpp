// Matrix Market files to matrices and vectors: the order of the steps.
#include <krylith/matrix/matrix_market.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <krylith/matrix/available_memory.hpp>
#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/index_width.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/entries.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/mirror.hpp>

namespace krylith {
namespace {

using market::header;
using market::line_source;

/// Rows take memory even where they are empty, and no line of the file vouches for them: beyond
/// 2^24 (offsets of 128 MiB) the entries must, one for 64 rows.
void refuse_unfounded_rows(const line_source& source, const header& h) {
    constexpr std::int64_t unquestioned = 1 << 24;
    constexpr std::int64_t rows_an_entry = 64;
    const std::int64_t entries = std::min(h.entries, index_limit); // no overflow below
    if (h.rows > unquestioned + rows_an_entry * entries) {
        market::refuse(source.name(), h.size_line,
                       std::to_string(h.rows) + " rows for " + std::to_string(h.entries) +
                           " entries, allowed are " + std::to_string(unquestioned) + " and " +
                           std::to_string(rows_an_entry) + " more for each entry");
    }
}

/// Linux promises more memory than there is, and kills who believes it: so ask before.
void refuse_beyond_memory(const line_source& source, const header& h, double bytes) {
    const auto available = static_cast<double>(available_memory());
    if (bytes > available) {
        market::refuse(
            source.name(), h.size_line,
            std::to_string(h.rows) + " rows and " + std::to_string(h.entries) +
                " entries need another " + bytes_in_words(bytes) +
                " of memory, allowed is what is available: " + bytes_in_words(available));
    }
}

/// Runs read(), which returns the contents; says in words that they don't fit in memory.
template <class Read>
auto within_memory(const line_source& source, const header& h, const Read& read) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        market::refuse(source.name(), h.size_line,
                       std::to_string(h.rows) + " rows, " + std::to_string(h.columns) +
                           " columns and " + std::to_string(h.entries) +
                           " entries don't fit in memory; available are " +
                           bytes_in_words(static_cast<double>(available_memory())));
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

/// The entries of the file, summed and sorted, without those that a symmetry implies.
template <class T>
csr_matrix<T> as_written(line_source& source, const header& h) {
    if (h.layout == market::layout::array) {
        return from_array(market::read_array<T>(source, h), h);
    }
    const coo_matrix<T> coo = market::read_coordinates<T>(source, h);
    refuse_beyond_memory(source, h,
                         static_cast<double>(h.rows) * sizeof(std::int64_t) +
                             static_cast<double>(h.entries) * (sizeof(std::int32_t) + sizeof(T)));
    return to_csr(coo);
}

[[noreturn]] void refuse_given_twice(line_source& source, const header& h, market::place twice) {
    const std::int64_t first = market::line_of_entry(source, h, twice.row, twice.column);
    const std::int64_t second = market::line_of_entry(source, h, twice.column, twice.row);
    const auto name = [](std::int64_t row, std::int64_t column) {
        return "(" + std::to_string(row + 1) + ", " + std::to_string(column + 1) + ")";
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

template <class T>
csr_matrix<T> read_matrix(line_source source) {
    const header h = market::read_header(source);
    refuse_unfounded_rows(source, h);
    return within_memory(source, h, [&] {
        csr_matrix<T> half = as_written<T>(source, h);
        if (h.symmetry == market::symmetry::general) {
            return half;
        }
        const T sign = h.symmetry == market::symmetry::symmetric ? T(1) : T(-1);
        market::mirrored<T> whole = market::mirror(half, sign);
        if (whole.given_twice) {
            refuse_given_twice(source, h, *whole.given_twice);
        }
        return std::move(whole.matrix);
    });
}

void refuse_other_than_vector(const line_source& source, const header& h) {
    if (h.columns != 1 || h.symmetry != market::symmetry::general) {
        market::refuse(source.name(), h.size_line,
                       "a " + std::string(market::name_of(h.symmetry)) + " matrix of " +
                           std::to_string(h.rows) + " rows and " + std::to_string(h.columns) +
                           " columns, allowed is a vector: general, n rows, 1 column");
    }
}

template <class T>
std::vector<T> read_vector(line_source source) {
    const header h = market::read_header(source);
    refuse_other_than_vector(source, h);
    refuse_unfounded_rows(source, h);
    return within_memory(source, h, [&] {
        if (h.layout == market::layout::array) {
            return market::read_array<T>(source, h);
        }
        const coo_matrix<T> entries = market::read_coordinates<T>(source, h);
        std::vector<T> vector(as_size(h.rows), T(0));
        for (std::size_t k = 0; k < entries.values.size(); ++k) {
            vector[as_size(entries.row_indices[k])] += entries.values[k];
        }
        return vector;
    });
}

} // namespace

template <class T>
csr_matrix<T> read_matrix_market(const std::filesystem::path& path) {
    return read_matrix<T>(line_source::from_file(path));
}

template <class T>
csr_matrix<T> parse_matrix_market(std::string_view text, std::string name) {
    return read_matrix<T>(line_source::from_text(text, std::move(name)));
}

template <class T>
std::vector<T> read_vector_market(const std::filesystem::path& path) {
    return read_vector<T>(line_source::from_file(path));
}

template <class T>
std::vector<T> parse_vector_market(std::string_view text, std::string name) {
    return read_vector<T>(line_source::from_text(text, std::move(name)));
}

template csr_matrix<double> read_matrix_market(const std::filesystem::path&);
template csr_matrix<float> read_matrix_market(const std::filesystem::path&);
template csr_matrix<double> parse_matrix_market(std::string_view, std::string);
template csr_matrix<float> parse_matrix_market(std::string_view, std::string);
template std::vector<double> read_vector_market(const std::filesystem::path&);
template std::vector<float> read_vector_market(const std::filesystem::path&);
template std::vector<double> parse_vector_market(std::string_view, std::string);
template std::vector<float> parse_vector_market(std::string_view, std::string);

} // namespace krylith
