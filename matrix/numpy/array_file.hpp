// Files of one array (.npy): vectors, and matrices that are stored dense.
#pragma once

#include <bit>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_format.hpp>

namespace krylith::numpy {

/// Reads an array of two dimensions; zeros are not entries. O(rows columns).
template <class T>
[[nodiscard]] csr_matrix<T> read_dense_array(files::input_file& file, const load_options& options);

/// Reads an array of one dimension, or of two of which one is 1.
template <class T>
[[nodiscard]] std::vector<T> read_vector_array(files::input_file& file,
                                               const vector_options& options);

/// Reads several vectors, as read_columns() of open_array.hpp does.
template <class T>
[[nodiscard]] dense_columns<T> read_columns_array(files::input_file& file,
                                                  const vector_options& options);

/// Writes an array of one dimension. O(bytes).
template <class T>
void write_vector_array(const std::filesystem::path& path, const vector_pieces<T>& vector,
                        std::string_view comment);

/// Writes an array of shape (n, k) in Fortran's order, in which the columns lie. O(bytes).
template <class T>
void write_columns_array(const std::filesystem::path& path, const dense_columns<T>& columns,
                         std::string_view comment);

/// The header of an array, in C's order or Fortran's: `type` is "<f8", `shape` "(3,)".
[[nodiscard]] std::string array_header_text(std::string_view type, const std::string& shape,
                                            bool by_columns = false);

/// The type of numbers of this machine: "<f8".
template <class Number>
[[nodiscard]] std::string type_name() {
    std::string name = std::endian::native == std::endian::little ? "<" : ">";
    name += std::is_integral_v<Number> ? 'i' : 'f';
    name += std::to_string(sizeof(Number));
    return name;
}

} // namespace krylith::numpy
