// A .npy array whose bytes can be read: of a file, or a member of an archive.
#pragma once

#include <string>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/numpy/array_header.hpp>

namespace krylith::numpy {

struct open_array {
    binary::byte_source bytes;
    array_header header;
};

/// The vector in an array of one dimension, or of two of which one is 1, or of none. Throws
/// input_error naming `file` for others.
template <class T>
[[nodiscard]] std::vector<T> read_vector(const open_array& array, const std::string& file);

} // namespace krylith::numpy
