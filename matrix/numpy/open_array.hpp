// A .npy array whose bytes can be read: of a file, or a member of an archive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/files/input_file.hpp>
#include <krylith/matrix/numpy/array_header.hpp>
#include <krylith/matrix/types/dense_columns.hpp>
#include <krylith/matrix/types/item_range.hpp>

namespace krylith::numpy {

struct open_array {
    binary::byte_source bytes;
    array_header header;
};

/// The array of a file.
[[nodiscard]] open_array open_file(files::input_file& file);

/// The number of entries of the vector in an array that read_vector() takes. Throws what it does.
[[nodiscard]] std::int64_t vector_entries(const open_array& array, const std::string& file);

/// Some of its entries.
template <class T>
[[nodiscard]] std::vector<T> read_vector(const open_array& array, const std::string& file,
                                         item_range entries);

/// The vector in an array of one dimension, or of two of which one is 1, or of none. Throws
/// input_error naming `file` for others.
template <class T>
[[nodiscard]] std::vector<T> read_vector(const open_array& array, const std::string& file);

/// The vectors in an array of shape (n, k), in either order, or the one that read_vector() takes.
/// (1, k) is a vector of k entries, unless the caller needs one entry. Throws input_error for
/// others.
template <class T>
[[nodiscard]] dense_columns<T> read_columns(const open_array& array, const std::string& file,
                                            std::optional<std::int64_t> entries);

} // namespace krylith::numpy
