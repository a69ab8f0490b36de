#include <krylith/matrix/numpy/array_file.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <krylith/device/error.hpp>
#include <krylith/matrix/compressed/row_builder.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/files/output_target.hpp>
#include <krylith/matrix/numpy/open_array.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::numpy {
namespace {

template <class T>
void write_array(const std::filesystem::path& path, const std::string& header,
                 const vector_pieces<T>& items) {
    output_target file(path);
    file.write(std::as_bytes(std::span(header)));
    items.for_each([&](std::span<const T> piece) { file.write(std::as_bytes(piece)); });
    file.commit();
}

} // namespace

template <class T>
csr_matrix<T> read_dense_array(files::input_file& file, const load_options& options) {
    const open_array array = open_file(file);
    const array_header& header = array.header;
    if (header.shape.size() != 2) {
        throw input_error(file.name() + ": an array of shape " + in_words(header.shape) +
                          ", allowed for a matrix is (rows, columns)");
    }
    const auto rows = static_cast<std::int64_t>(header.shape[0]);
    const auto columns = static_cast<std::int64_t>(header.shape[1]);
    check_index_size(file.name() + ": rows", rows);
    check_index_size(file.name() + ": columns", columns);
    files::check_memory(file.name(),
                        static_cast<double>(header.count) * sizeof(T) +
                            files::csr_bytes(rows, rows * columns, sizeof(T)),
                        options.memory);
    std::vector<T> items;
    files::read_numbers(array.bytes, header.numbers(file.name()), items);
    const auto at = [&](std::int64_t row, std::int64_t column) {
        return items[as_size(header.by_columns ? column * rows + row : row * columns + column)];
    };
    csr_matrix<T> matrix = build_by_rows<T>(
        rows, columns,
        [&](std::int64_t row) {
            std::int64_t count = 0;
            for (std::int64_t column = 0; column < columns; ++column) {
                count += at(row, column) != T(0);
            }
            return count;
        },
        [&](std::int64_t row, std::int32_t* indices, T* values) {
            for (std::int64_t column = 0; column < columns; ++column) {
                if (const T value = at(row, column); value != T(0)) {
                    *indices++ = static_cast<std::int32_t>(column);
                    *values++ = value;
                }
            }
        });
    if (options.report != nullptr) {
        *options.report = {};
        options.report->layout = "dense array";
        options.report->field = header.type;
        options.report->symmetry = "general";
        options.report->entries = static_cast<std::int64_t>(header.count);
    }
    return matrix;
}

template <class T>
std::vector<T> read_vector_array(files::input_file& file, const vector_options&) {
    return read_vector<T>(open_file(file), file.name());
}

template <class T>
dense_columns<T> read_columns_array(files::input_file& file, const vector_options& options) {
    return read_columns<T>(open_file(file), file.name(), options.entries);
}

std::string array_header_text(std::string_view type, const std::string& shape, bool by_columns) {
    constexpr std::size_t start = 10; // magic bytes, version 1.0, length
    constexpr std::size_t alignment = 64;
    std::string text = "{'descr': '" + std::string(type) +
                       "', 'fortran_order': " + (by_columns ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
    const std::size_t bare = start + text.size() + 1;
    text.append((alignment - bare % alignment) % alignment, ' ');
    text += '\n';
    std::string header(array_magic);
    header += '\x01';
    header += '\0';
    header += static_cast<char>(text.size() % 256);
    header += static_cast<char>(text.size() / 256);
    return header + text;
}

template <class T>
void write_vector_array(const std::filesystem::path& path, const vector_pieces<T>& vector,
                        std::string_view) {
    write_array(path,
                array_header_text(type_name<T>(), "(" + std::to_string(vector.entries()) + ",)"),
                vector);
}

template <class T>
void write_columns_array(const std::filesystem::path& path, const dense_columns<T>& columns,
                         std::string_view) {
    const std::string shape =
        "(" + std::to_string(columns.rows) + ", " + std::to_string(columns.columns) + ")";
    write_array(path, array_header_text(type_name<T>(), shape, true),
                vector_pieces<T>(columns.values));
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_dense_array(files::input_file&, const load_options&);              \
    template std::vector<T> read_vector_array(files::input_file&, const vector_options&);          \
    template void write_vector_array(const std::filesystem::path&, const vector_pieces<T>&,        \
                                     std::string_view);                                            \
    template dense_columns<T> read_columns_array(files::input_file&, const vector_options&);       \
    template void write_columns_array(const std::filesystem::path&, const dense_columns<T>&,       \
                                      std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::numpy
