// A matrix of its own from the bytes of a .kcsr file.
#pragma once

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/kcsr/image.hpp>

namespace krylith::binary {

/// Reads each byte once, to where it stays, by all OpenMP threads. Throws input_error for what
/// open_image refuses, where the memory can't hold the matrix, and where a value doesn't fit (see
/// read_binary_csr).
template <class T>
[[nodiscard]] csr_matrix<T> read_matrix(const byte_source& file, file_check check = {});

} // namespace krylith::binary
