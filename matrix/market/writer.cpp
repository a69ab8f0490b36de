// Writing of matrices and vectors to Matrix Market files.
#include <krylith/matrix/matrix_market.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <krylith/device/error.hpp>
#include <krylith/matrix/market/text_sink.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

void put_comment(market::text_sink& file, std::string_view comment) {
    while (!comment.empty()) {
        const std::size_t end = comment.find('\n');
        file.put("% ");
        file.put(comment.substr(0, end));
        file.put("\n");
        comment.remove_prefix(end == std::string_view::npos ? comment.size() : end + 1);
    }
}

template <class T>
void refuse_not_finite(const csr_view<T>& matrix) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t k = matrix.row_offsets[as_size(row)];
             k < matrix.row_offsets[as_size(row + 1)]; ++k) {
            const T value = matrix.values[as_size(k)];
            if (!std::isfinite(value)) {
                throw input_error("the matrix to write has the value " + std::to_string(value) +
                                  " in row " + std::to_string(row) + ", column " +
                                  std::to_string(matrix.column_indices[as_size(k)]) +
                                  " (from 0), allowed are finite numbers");
            }
        }
    }
}

/// Writes values that lie column by column.
template <class T>
void put_array(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
               const vector_pieces<T>& values, std::string_view comment) {
    market::text_sink file(path);
    file.put("%%MatrixMarket matrix array real general\n");
    put_comment(file, comment);
    file.put(rows);
    file.put(" ");
    file.put(columns);
    file.put("\n");
    values.for_each([&](std::span<const T> piece) {
        for (const T value : piece) {
            file.put_real(value);
            file.put("\n");
        }
    });
    file.close();
}

} // namespace

template <class T>
void write_matrix_market(const std::filesystem::path& path, const csr_view<T>& matrix,
                         std::string_view comment) {
    validate(matrix);
    refuse_not_finite(matrix); // checked before the file is touched
    market::text_sink file(path);
    file.put("%%MatrixMarket matrix coordinate real general\n");
    put_comment(file, comment);
    file.put(matrix.rows);
    file.put(" ");
    file.put(matrix.columns);
    file.put(" ");
    file.put(matrix.nnz());
    file.put("\n");
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t k = matrix.row_offsets[as_size(row)];
             k < matrix.row_offsets[as_size(row + 1)]; ++k) {
            file.put(row + 1);
            file.put(" ");
            file.put(matrix.column_indices[as_size(k)] + std::int64_t{1});
            file.put(" ");
            file.put_real(matrix.values[as_size(k)]);
            file.put("\n");
        }
    }
    file.close();
}

template <class T>
void write_vector_market(const std::filesystem::path& path, std::span<const T> vector,
                         std::string_view comment) {
    write_vector_market(path, vector_pieces<T>(vector), comment);
}

template <class T>
void write_vector_market(const std::filesystem::path& path, const vector_pieces<T>& vector,
                         std::string_view comment) {
    put_array(path, vector.entries(), 1, vector, comment);
}

template <class T>
void write_columns_market(const std::filesystem::path& path, const dense_columns<T>& columns,
                          std::string_view comment) {
    put_array(path, columns.rows, columns.columns, vector_pieces<T>(columns.values), comment);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void write_matrix_market(const std::filesystem::path&, const csr_view<T>&,            \
                                      std::string_view);                                           \
    template void write_vector_market(const std::filesystem::path&, std::span<const T>,            \
                                      std::string_view);                                           \
    template void write_vector_market(const std::filesystem::path&, const vector_pieces<T>&,       \
                                      std::string_view);                                           \
    template void write_columns_market(const std::filesystem::path&, const dense_columns<T>&,      \
                                       std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
